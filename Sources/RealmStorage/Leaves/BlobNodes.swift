// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes the two leaf forms that strings and binaries share.
///
/// *Medium* is one byte node with all values one after another, end offsets and null flags; *big* is one byte node per
/// value. Strings have a terminating zero byte in both, medium nulls too. Source: docs/format.md, "Medium strings".
struct BlobNodes {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether values end with a zero byte, as texts do.
    let isText: Bool
    /// How many zero bytes follow each value: 1 after texts, 0 after binaries.
    private var terminatorByteCount: Int { isText ? 1 : 0 }

    /// The longest value that one byte node holds.
    static let maximumByteCount = 0xff_fff8 - 8

    /// Checks that a value is short enough to be stored, nearly 16 MiB.
    ///
    /// - Throws: `.limit` with both sizes for a longer one. Null always fits.
    func requireFit(_ bytes: ByteView?) throws(StorageError) {
        let limit = BlobNodes.maximumByteCount - terminatorByteCount
        if let bytes, bytes.count > limit, !writes.splitsLongValues {
            throw .limit("a value of \(bytes.count) bytes; at most \(limit) can be stored")
        }
    }

    /// Returns whether the leaf has the big form, which its context flag states.
    func isBig(_ node: Node) -> Bool { node.hasContext }

    // MARK: - Making

    /// Makes a medium leaf in the memory of the transaction.
    ///
    /// - Parameters:
    ///   - areNull: Whether these values are null; otherwise they are empty.
    /// - Returns: The ref of the new leaf.
    func makeMedium(emptyValues count: Int, areNull: Bool) throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: 3)
        let size = isText ? 1 : 0
        try top.set(0, try writes.makeIntegers((0..<count).map { Int64(($0 + 1) * size) }).ref)
        try top.set(1, try writes.makeNode(.blob, widthCode: 1, count: count * size).ref)
        try top.set(2, try writes.makeIntegers(repeatElement(areNull ? 1 : 0, count: count)).ref)
        return top.ref
    }

    /// Makes a big leaf without values and returns its ref.
    func makeBig() throws(StorageError) -> Ref { try writes.makeNode(.contextRefs).ref }

    // MARK: - Values

    /// Returns how many values a leaf of either form has; throws `.corrupt` when the leaf lacks its end offsets.
    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let top = try writes.node(at: leaf)
        if isBig(top) { return top.count }
        return try writes.integerNode(try top.requiredRef(0, "end offsets")).count
    }

    /// Inserts a value into a leaf of either form; the form does not change, so the caller converts
    /// the leaf first if the value is too long for it.
    ///
    /// - Parameters:
    ///   - bytes: The value; nil is null.
    ///   - row: The new row, `0...count`.
    ///   - leaf: The leaf, which the returned one replaces.
    /// - Returns: The ref of the leaf, which may have moved.
    /// - Throws: `.corrupt` for a row outside the leaf, or for a damaged leaf.
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

    /// Adds values at the end of a leaf of either form; the caller converts the leaf first if one of them is too long for it.
    ///
    /// - Parameters:
    ///   - values: The values; nil is null.
    ///   - leaf: The leaf, which the returned one replaces.
    /// - Returns: The ref of the leaf, which may have moved.
    func append(contentsOf values: [ByteView?], to leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        if isBig(top.node) {
            for bytes in values { try top.append(try blob(bytes)) }
        } else {
            var parts = try MediumBlobsWriter(writes, top)
            for bytes in values { try parts.insert(bytes, at: parts.count, terminatorByteCount) }
            try parts.store(in: &top)
        }
        return top.ref
    }

    /// Replaces a value of a leaf of either form; in the big form the byte node of the old value is discarded.
    ///
    /// - Parameters:
    ///   - bytes: The new value; nil is null.
    ///   - row: A row in `0..<count`.
    ///   - leaf: The leaf, which the returned one replaces.
    /// - Returns: The ref of the leaf, which may have moved.
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

    /// Removes a value of a leaf of either form, together with its byte node in the big form.
    ///
    /// - Returns: The ref of the leaf, which may have moved.
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

    /// Moves the values from `row` on to a new leaf of the same form.
    ///
    /// - Returns: The refs of the leaf with the first `row` values and of the new leaf with the
    ///   rest.
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

    /// Removes a value of a big leaf by moving the last one into its place, at a cost that does not
    /// depend on the number of values.
    ///
    /// Payloads of Mixed leaves are erased this way, because their order means nothing.
    func eraseByMovingLast(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        try top.requireRow(row)
        try discardBlob(top, row)
        try top.set(row, top.integer(top.count - 1))
        top.removeInteger(at: top.count - 1)
        return top.ref
    }

    /// Appends the values of `next` to a big leaf by moving refs; the bytes stay where they are, and only the node of refs of
    /// `next` is discarded.
    func joinBig(_ leaf: Ref, with next: Node) throws(StorageError) -> Ref {
        try next.requireLeafOfRefs()
        var top = try writes.writableRefs(leaf)
        for row in 0..<next.count { try top.append(next.integer(row)) }
        writes.discard(next)
        return top.ref
    }

    // MARK: - Big values

    /// Makes a byte node for a value and returns its ref; null has none.
    private func blob(_ bytes: ByteView?) throws(StorageError) -> Ref {
        guard let bytes else { return .none }
        guard bytes.count <= BlobNodes.maximumByteCount - terminatorByteCount else { return try splitBlob(bytes) }
        return try writes.makeBlob(bytes, terminated: isText).ref
    }

    /// Makes the byte nodes of a value that is too long for one, and returns the ref of the list of them. There is no terminator.
    private func splitBlob(_ bytes: ByteView) throws(StorageError) -> Ref {
        var parts = try writes.makeNode(.contextRefs)
        for start in stride(from: 0, to: bytes.count, by: BlobNodes.maximumByteCount) {
            try parts.append(try writes.makeBlob(bytes.slice(start, start + BlobNodes.maximumByteCount)).ref)
        }
        return parts.ref
    }

    /// Discards the byte node of a value, or the nodes of a split one.
    private func discardBlob(_ top: MutableNode, _ row: Int) throws(StorageError) { try writes.discardTree(top.ref(row)) }
}
