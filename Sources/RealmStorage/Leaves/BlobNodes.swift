// SPDX-License-Identifier: Apache-2.0

/// Changes the two leaf forms that strings and binaries share.
///
/// *Medium* is one byte node with all values one after another, end offsets and null flags; *big* is one byte node per
/// value. Strings have a terminating zero byte in both, medium nulls too. Source: docs/format.md, "Medium strings".
struct BlobNodes {
    /// Where the nodes of the transaction are.
    let writes: WriteSpace
    /// Whether values end with a zero byte, as texts do.
    let isText: Bool
    /// How many zero bytes end a value.
    private var terminatorByteCount: Int { isText ? 1 : 0 }

    /// The longest value that one byte node holds.
    static let maximumByteCount = 0xff_fff8 - 8

    /// Throws `.limit` for a value that no leaf can hold.
    func requireFit(_ bytes: ByteView?) throws(StorageError) {
        let limit = BlobNodes.maximumByteCount - terminatorByteCount
        if let bytes, bytes.count > limit { throw .limit("a value of \(bytes.count) bytes; at most \(limit) can be stored") }
    }

    /// Whether the leaf has the big form.
    func isBig(_ node: Node) -> Bool { node.hasContext }

    // MARK: - Making

    /// A medium leaf of `count` values that are empty, or null.
    func makeMedium(emptyValues count: Int, areNull: Bool) throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: 3)
        let size = isText ? 1 : 0
        try top.set(0, try writes.makeIntegers((0..<count).map { Int64(($0 + 1) * size) }).ref)
        try top.set(1, try writes.makeNode(.blob, widthCode: 1, count: count * size).ref)
        try top.set(2, try writes.makeIntegers(repeatElement(areNull ? 1 : 0, count: count)).ref)
        return top.ref
    }

    /// A big leaf without values.
    func makeBig() throws(StorageError) -> Ref { try writes.makeNode(.contextRefs).ref }

    // MARK: - Values

    /// How many values a leaf of either form has.
    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let top = try writes.node(at: leaf)
        if isBig(top) { return top.count }
        return try writes.integerNode(try top.requiredRef(0, "end offsets")).count
    }

    /// Puts a value in; nil is null. A leaf that cannot hold it in its form moves to the big one.
    func insert(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row, below: top.count + 1)
            try top.insert(try blob(bytes), at: row)
        } else {
            var parts = try MediumBlobsWriter(writes, top)
            try parts.insert(bytes, at: row, terminatorByteCount)
            try parts.store(in: &top)
        }
        return top.ref
    }

    /// Replaces a value; nil is null.
    func set(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row)
            try discardBlob(top, row)
            try top.set(row, try blob(bytes))
        } else {
            var parts = try MediumBlobsWriter(writes, top)
            try parts.set(bytes, at: row, terminatorByteCount)
            try parts.store(in: &top)
        }
        return top.ref
    }

    /// Takes a value out.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row)
            try discardBlob(top, row)
            top.removeInteger(at: row)
        } else {
            var parts = try MediumBlobsWriter(writes, top)
            try parts.erase(row)
            try parts.store(in: &top)
        }
        return top.ref
    }

    /// Moves the values from `row` on to a new leaf.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            try top.requireRow(row, below: top.count + 1)
            let tail = try writes.makeTail(of: top, from: row)
            top.truncateIntegers(to: row)
            return (top.ref, tail.ref)
        }
        var parts = try MediumBlobsWriter(writes, top)
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

    /// Moves the byte nodes of a big leaf after those of another.
    func joinBig(_ leaf: Ref, with next: Node) throws(StorageError) -> Ref {
        try next.requireLeafOfRefs()
        var top = try writes.writableRefs(leaf)
        for row in 0..<next.count { try top.append(next.integer(row)) }
        writes.discard(next)
        return top.ref
    }

    // MARK: - Big values

    /// A byte node with a value; none for null.
    private func blob(_ bytes: ByteView?) throws(StorageError) -> Ref {
        guard let bytes else { return .none }
        return try writes.makeBlob(bytes, terminated: isText).ref
    }

    /// Gives up the byte node of a value, or the nodes of a split one.
    private func discardBlob(_ top: MutableNode, _ row: Int) throws(StorageError) { try writes.discardTree(top.ref(row)) }
}
