// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The three nodes of a medium leaf of strings or binaries, all ready to be changed.
///
/// Made by `BlobNodes` for one change of a leaf; the refs of the nodes are stored in the leaf afterwards.
struct MediumBlobsWriter {
    /// The nodes of the transaction, committed and new.
    private let writes: WriteSpace
    /// Where each value ends in `blob`, its terminator included.
    private var ends: MutableNode
    /// The bytes of all values one after another.
    private var blob: MutableNode
    /// One element per value, 1 where it is null.
    private var nulls: MutableNode

    /// Opens the nodes of `top`, a medium leaf, which are copied if they are committed.
    ///
    /// - Throws: `.corrupt` for another shape.
    init(_ writes: WriteSpace, _ top: MutableNode) throws(StorageError) {
        let node = top.node
        try MediumBlobs.requireShape(node)
        self.writes = writes
        ends = try writes.writableIntegers(try node.requiredRef(0, "end offsets"))
        blob = try writes.writable(try node.requiredRef(1, "string bytes"))
        nulls = try writes.writableIntegers(try node.requiredRef(2, "null flags"))
        try blob.node.requireBytes()
        try MediumBlobs.requireSameCount(ends: ends.count, nulls: nulls.count, node)
    }

    /// How many values the leaf has.
    var count: Int { ends.count }

    /// Stores the refs of the three nodes in the leaf, as they may have moved.
    func store(in top: inout MutableNode) throws(StorageError) {
        try top.update(0, ends.ref)
        try top.update(1, blob.ref)
        try top.update(2, nulls.ref)
    }

    /// Returns where the bytes of value `row` begin; `row` may be the number of values.
    ///
    /// - Throws: `.corrupt` when that lies outside the byte node.
    private func start(_ row: Int) throws(StorageError) -> Int {
        guard row > 0 else { return 0 }
        let end = ends.integer(row - 1)
        guard end >= 0, end <= Int64(blob.count) else { throw blob.node.corrupt("value \(row - 1) ends outside its bytes") }
        return Int(end)
    }

    /// Returns where the bytes of a value lie; throws `.corrupt` when it ends before it begins.
    private func range(_ row: Int) throws(StorageError) -> Range<Int> {
        let (lower, upper) = (try start(row), try start(row + 1))
        guard lower <= upper else { throw blob.node.corrupt("value \(row) ends before it begins") }
        return lower..<upper
    }

    /// Inserts a value at `row`, and moves the end offsets of those after it.
    ///
    /// - Parameters:
    ///   - bytes: The value; nil is null.
    ///   - row: The new row, `0...count`.
    ///   - terminator: How many zero bytes follow the value: 1 for texts, null included, else 0.
    mutating func insert(_ bytes: ByteView?, at row: Int, _ terminator: Int) throws(StorageError) {
        try ends.requireRow(row, below: ends.count + 1)
        let begin = try start(row)
        let size = (bytes?.count ?? 0) + terminator
        try blob.replaceElements(at: begin, removing: 0, inserting: size)
        if let bytes { blob.store(bytes, atByte: begin) }
        try ends.insert(Int64(begin + size), at: row)
        try ends.add(Int64(size), to: row + 1..<ends.count)
        try nulls.insert(bytes == nil ? 1 : 0, at: row)
    }

    /// Replaces the value in `row`, and moves the end offsets of those after it if its length changes.
    ///
    /// - Parameters:
    ///   - bytes: The new value; nil is null.
    ///   - row: A row in `0..<count`.
    ///   - terminator: How many zero bytes follow the value: 1 for texts, null included, else 0.
    mutating func set(_ bytes: ByteView?, at row: Int, _ terminator: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        let size = (bytes?.count ?? 0) + terminator
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: size)
        if let bytes { blob.store(bytes, atByte: old.lowerBound) }
        if size != old.count { try ends.add(Int64(size - old.count), to: row..<ends.count) }
        try nulls.set(row, bytes == nil ? 1 : 0)
    }

    /// Removes the value in `row`, and moves the end offsets of those after it.
    mutating func erase(_ row: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: 0)
        ends.removeInteger(at: row)
        nulls.removeInteger(at: row)
        if old.count > 0 { try ends.add(Int64(-old.count), to: row..<ends.count) }
    }

    /// Moves the values from `row` on to a new medium leaf and returns its ref.
    mutating func split(at row: Int) throws(StorageError) -> Ref {
        try ends.requireRow(row, below: ends.count + 1)
        let begin = try start(row)
        var top = try writes.makeNode(.refs, count: 3)
        var tailEnds = try writes.makeTail(of: ends, from: row)
        try tailEnds.add(Int64(-begin), to: 0..<tailEnds.count)
        let moved = blob.bytes.suffix(from: begin)
        let tailBlob = try writes.makeNode(.blob, widthCode: 1, count: moved.count)
        tailBlob.store(moved, atByte: 0)
        try top.set(0, tailEnds.ref)
        try top.set(1, tailBlob.ref)
        try top.set(2, try writes.makeTail(of: nulls, from: row).ref)
        try blob.replaceElements(at: begin, removing: blob.count - begin, inserting: 0)
        ends.truncateIntegers(to: row)
        nulls.truncateIntegers(to: row)
        return top.ref
    }
}
