// SPDX-License-Identifier: Apache-2.0

/// Changes the two leaf forms that strings and binaries share.
///
/// *Medium* is one byte node with all values one after another, end offsets and null flags; *big* is one byte node per
/// value. Strings have a terminating zero byte in both, medium nulls too. Source: docs/format.md, "Medium strings".
struct BlobNodes {
    let writes: WriteSpace
    let isText: Bool
    private var terminatorByteCount: Int { isText ? 1 : 0 }

    /// The longest value that one byte node holds.
    static let maximumByteCount = 0xff_fff8 - 8

    /// Throws `.limit` for a value that no leaf can hold.
    func requireFit(_ bytes: ByteView?) throws(StorageError) {
        let limit = BlobNodes.maximumByteCount - terminatorByteCount
        if let bytes, bytes.count > limit { throw .limit("a value of \(bytes.count) bytes; at most \(limit) can be stored") }
    }

    func isBig(_ node: Node) -> Bool { node.hasContext }

    // MARK: - Making

    func makeMedium(emptyValues count: Int, areNull: Bool) throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: 3)
        let size = isText ? 1 : 0
        try top.set(0, try writes.makeIntegers((0..<count).map { Int64(($0 + 1) * size) }).ref)
        try top.set(1, try writes.makeNode(.blob, widthCode: 1, count: count * size).ref)
        try top.set(2, try writes.makeIntegers(repeatElement(areNull ? 1 : 0, count: count)).ref)
        return top.ref
    }

    func makeBig() throws(StorageError) -> Ref { try writes.makeNode(.contextRefs).ref }

    // MARK: - Values

    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let top = try writes.node(at: leaf)
        if isBig(top) { return top.count }
        return try writes.integerNode(try top.requiredRef(0, "end offsets")).count
    }

    func insert(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row, below: top.count + 1)
            try top.insert(try blob(bytes), at: row)
        } else {
            var parts = try Medium(writes, top)
            try parts.insert(bytes, at: row, terminatorByteCount)
            try parts.store(in: &top)
        }
        return top.ref
    }

    func set(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row)
            try discardBlob(top, row)
            try top.set(row, try blob(bytes))
        } else {
            var parts = try Medium(writes, top)
            try parts.set(bytes, at: row, terminatorByteCount)
            try parts.store(in: &top)
        }
        return top.ref
    }

    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row)
            try discardBlob(top, row)
            top.removeInteger(at: row)
        } else {
            var parts = try Medium(writes, top)
            try parts.erase(row)
            try parts.store(in: &top)
        }
        return top.ref
    }

    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row, below: top.count + 1)
            let tail = try writes.makeTail(of: top, from: row)
            top.truncateIntegers(to: row)
            return (top.ref, tail.ref)
        }
        var parts = try Medium(writes, top)
        let tail = try parts.split(at: row)
        try parts.store(in: &top)
        return (top.ref, tail)
    }

    /// Removes a value of a big leaf by moving the last one into its place.
    func eraseByMovingLast(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        try top.requireRow(row)
        try discardBlob(top, row)
        try top.set(row, top.integer(top.count - 1))
        top.removeInteger(at: top.count - 1)
        return top.ref
    }

    /// Moves the byte nodes of a big leaf behind those of another.
    func joinBig(_ leaf: Ref, with next: Node) throws(StorageError) -> Ref {
        guard next.flags & 0xd8 == 0x40 else { throw next.corrupt("a leaf with refs expected") }
        var top = try writes.writableRefs(leaf)
        for row in 0..<next.count { try top.append(next.integer(row)) }
        writes.discard(next)
        return top.ref
    }

    // MARK: - Big values

    private func blob(_ bytes: ByteView?) throws(StorageError) -> Ref {
        guard let bytes else { return .none }
        return try writes.makeBlob(bytes, terminated: isText).ref
    }

    /// Gives up the byte node of a value, or the nodes of a split one.
    private func discardBlob(_ top: MutableNode, _ row: Int) throws(StorageError) { try writes.discardTree(top.ref(row)) }
}

/// The parts of a medium leaf, all ready to be changed.
private struct Medium {
    private let writes: WriteSpace
    private var ends: MutableNode
    private var blob: MutableNode
    private var nulls: MutableNode

    init(_ writes: WriteSpace, _ top: MutableNode) throws(StorageError) {
        let node = top.node
        guard node.count == 3 else { throw node.corrupt("a medium string leaf has three slots") }
        self.writes = writes
        ends = try writes.writableIntegers(try node.requiredRef(0, "end offsets"))
        blob = try writes.writable(try node.requiredRef(1, "string bytes"))
        nulls = try writes.writableIntegers(try node.requiredRef(2, "null flags"))
        guard blob.flags & 0xd8 == 0x10 else { throw blob.node.corrupt("byte node expected") }
        guard nulls.count == ends.count else { throw node.corrupt("\(ends.count) strings with \(nulls.count) null flags") }
    }

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

    private func range(_ row: Int) throws(StorageError) -> Range<Int> {
        let (lower, upper) = (try start(row), try start(row + 1))
        guard lower <= upper else { throw blob.node.corrupt("value \(row) ends before it begins") }
        return lower..<upper
    }

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

    mutating func set(_ bytes: ByteView?, at row: Int, _ terminator: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        let size = (bytes?.count ?? 0) + terminator
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: size)
        if let bytes { blob.store(bytes, atByte: old.lowerBound) }
        if size != old.count { try ends.add(Int64(size - old.count), to: row..<ends.count) }
        try nulls.set(row, bytes == nil ? 1 : 0)
    }

    mutating func erase(_ row: Int) throws(StorageError) {
        try ends.requireRow(row)
        let old = try range(row)
        try blob.replaceElements(at: old.lowerBound, removing: old.count, inserting: 0)
        ends.removeInteger(at: row)
        nulls.removeInteger(at: row)
        if old.count > 0 { try ends.add(Int64(-old.count), to: row..<ends.count) }
    }

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
