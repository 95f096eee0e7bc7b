// SPDX-License-Identifier: Apache-2.0

/// The parts of a medium leaf, all ready to be changed.
struct MediumBlobsWriter {
    /// Where the nodes of the transaction are.
    private let writes: WriteSpace
    /// Where each value ends.
    private var ends: MutableNode
    /// The bytes of all values.
    private var blob: MutableNode
    /// Which values are null.
    private var nulls: MutableNode

    /// Opens the parts of `top`, a medium leaf. Throws `.corrupt` for another shape.
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

    /// Stores the refs of the parts, which may have moved.
    func store(in top: inout MutableNode) throws(StorageError) {
        try top.update(0, ends.ref)
        try top.update(1, blob.ref)
        try top.update(2, nulls.ref)
    }

    /// Where the bytes of value `row` begin; `row` may be the number of values.
    private func start(_ row: Int) throws(StorageError) -> Int {
        guard row > 0 else { return 0 }
        let end = ends.integer(row - 1)
        guard end >= 0, end <= Int64(blob.count) else { throw blob.node.corrupt("value \(row - 1) ends outside its bytes") }
        return Int(end)
    }

    /// The bytes of a value. Throws `.corrupt` when it ends before it begins.
    private func range(_ row: Int) throws(StorageError) -> Range<Int> {
        let (lower, upper) = (try start(row), try start(row + 1))
        guard lower <= upper else { throw blob.node.corrupt("value \(row) ends before it begins") }
        return lower..<upper
    }

    /// Puts a value of `bytes` and `terminator` zero bytes in at `row`; nil is null.
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

    /// Replaces the value in `row`; nil is null.
    mutating func set(_ bytes: ByteView?, at row: Int, _ terminator: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        let size = (bytes?.count ?? 0) + terminator
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: size)
        if let bytes { blob.store(bytes, atByte: old.lowerBound) }
        if size != old.count { try ends.add(Int64(size - old.count), to: row..<ends.count) }
        try nulls.set(row, bytes == nil ? 1 : 0)
    }

    /// Takes the value in `row` out.
    mutating func erase(_ row: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: 0)
        ends.removeInteger(at: row)
        nulls.removeInteger(at: row)
        if old.count > 0 { try ends.add(Int64(-old.count), to: row..<ends.count) }
    }

    /// Moves the values from `row` on to a new leaf and returns it.
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
