// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of binaries: a leaf is medium while no value is longer than 64 bytes, and big from then on.
///
/// A leaf that became big stays so, even when its long values are erased. Source: docs/format.md, "Binary".
struct BinaryLeafForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether the column or collection may have nulls.
    let isNullable: Bool

    /// The longest value of a medium leaf in bytes.
    private static let mediumLimit = 64
    /// The writer of the medium and the big form.
    private var blobs: BlobNodes { BlobNodes(writes: writes, isText: false) }

    /// Null where that is allowed, else an empty binary.
    var defaultValue: Value { isNullable ? .null : .binary(.empty) }

    /// Makes a medium leaf of nulls or empty values.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        try blobs.makeMedium(emptyValues: count, areNull: isNullable)
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int { try blobs.count(leaf) }

    /// Inserts a value, after converting the leaf to the big form if the value is longer than 64 bytes.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let bytes = try bytes(value)
        return try blobs.insert(bytes, at: row, in: try prepare(leaf, for: bytes))
    }

    /// Adds binaries and nulls; the leaf is converted to the big form at most once.
    ///
    /// - Throws: `.limit` for a value of another type or one that no byte node can hold.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        var binaries: [ByteView?] = []
        binaries.reserveCapacity(values.count)
        var longest: ByteView?
        for value in values {
            let bytes = try bytes(value ?? defaultValue)
            try blobs.requireFit(bytes)
            if let bytes, bytes.count >= longest?.count ?? 0 { longest = bytes }
            binaries.append(bytes)
        }
        return try blobs.append(contentsOf: binaries, to: try prepare(leaf, for: longest))
    }

    /// Replaces a value, after converting the leaf to the big form if the new value is longer than 64 bytes.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let bytes = try bytes(value)
        return try blobs.set(bytes, at: row, in: try prepare(leaf, for: bytes))
    }

    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref { try blobs.erase(row, in: leaf) }

    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        try blobs.split(leaf, at: row)
    }

    /// Appends the values of `next`. A big leaf is joined by moving refs, after the first leaf was
    /// converted to the big form too; a medium one value by value.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        let other = try writes.node(at: next)
        if blobs.isBig(other) { return try blobs.joinBig(try makeBig(leaf), with: other) }
        let values = try BinaryLeaf(other, writes.space)
        var leaf = leaf
        for row in 0..<values.count {
            let bytes = try values.binary(row)
            leaf = try blobs.insert(bytes, at: try count(leaf), in: try prepare(leaf, for: bytes))
        }
        try writes.discardTree(next)
        return leaf
    }

    /// Converts the leaf to the big form if `bytes` is longer than a medium leaf may hold.
    ///
    /// - Returns: The leaf, which has moved if it was converted.
    /// - Throws: `.limit` for a value that no byte node can hold.
    private func prepare(_ leaf: Ref, for bytes: ByteView?) throws(StorageError) -> Ref {
        try blobs.requireFit(bytes)
        guard let bytes, bytes.count > BinaryLeafForm.mediumLimit else { return leaf }
        return try makeBig(leaf)
    }

    /// Builds the big form of a medium leaf and gives the old one up; a leaf that is big is returned as it is.
    private func makeBig(_ leaf: Ref) throws(StorageError) -> Ref {
        let node = try writes.node(at: leaf)
        if blobs.isBig(node) { return leaf }
        let old = try BinaryLeaf(node, writes.space)
        var big = try blobs.makeBig()
        for row in 0..<old.count { big = try blobs.insert(try old.binary(row), at: row, in: big) }
        try writes.discardTree(leaf)
        return big
    }

    /// The bytes of a value; nil for null. Throws `.limit` for another type.
    private func bytes(_ value: Value) throws(StorageError) -> ByteView? {
        switch value {
        case .binary(let bytes): return bytes
        case .null where isNullable: return nil
        default: throw misfit("a binary")
        }
    }
}
