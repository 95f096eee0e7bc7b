// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The medium form of a leaf of strings or binaries: one byte node with all values one after
/// another, an array of end offsets and one of null flags.
///
/// Attaching checks the counts only. Where each value begins and ends is checked when it is read, because a scan of one column
/// would otherwise pay for it in every leaf. The form is used while no value is longer than 63 bytes of text or 64 of data.
package struct MediumBlobs: Sendable {
    /// Where each value ends in `bytes`, its terminator included.
    package let ends: PackedIntegers
    /// One element per value, not 0 where the value is null.
    package let nulls: PackedIntegers
    /// The bytes of all values one after another.
    package let bytes: ByteView
    /// The ref of the leaf, for error messages.
    private let ref: Ref
    /// Whether each value ends with a zero byte, as strings do.
    private let isText: Bool

    /// How many values the leaf has, nulls included.
    @inline(__always) package var count: Int { ends.count }

    /// Attaches a medium leaf. Where values end is checked only when they are read.
    ///
    /// - Parameters:
    ///   - node: The leaf, a node with three refs.
    ///   - space: The space that the refs point into.
    ///   - isText: Whether each value ends with a zero byte.
    /// - Throws: `.corrupt` for another shape, or for arrays of different lengths.
    init(_ node: Node, _ space: NodeSpace, isText: Bool) throws(StorageError) {
        try MediumBlobs.requireShape(node)
        ref = node.ref
        self.isText = isText
        ends = try MediumBlobs.integers(of: node, 0, space, "end offsets")
        nulls = try MediumBlobs.integers(of: node, 2, space, "null flags")
        let blob = try space.node(at: try node.requiredRef(1, "string bytes"))
        try blob.requireBytes()
        bytes = blob.bytes
        try MediumBlobs.requireSameCount(ends: ends.count, nulls: nulls.count, node)
    }

    /// Checks that `node` has the three slots of a medium leaf (end offsets, bytes, null flags) and
    /// throws `.corrupt` otherwise.
    static func requireShape(_ node: Node) throws(StorageError) {
        guard node.count == 3 else { throw node.corrupt("a medium string leaf has three slots") }
    }

    /// Checks that there are as many null flags as end offsets, and throws `.corrupt` otherwise.
    static func requireSameCount(ends: Int, nulls: Int, _ node: Node) throws(StorageError) {
        guard nulls == ends else { throw node.corrupt("\(ends) strings with \(nulls) null flags") }
    }

    /// Attaches the array in a slot of the leaf; throws `.corrupt` when it is not a plain node of integers.
    private static func integers(
        of node: Node, _ slot: Int, _ space: NodeSpace, _ what: StaticString
    ) throws(StorageError) -> PackedIntegers {
        let child = try space.node(at: try node.requiredRef(slot, "\(what)"))
        guard !child.hasRefs else { throw child.corrupt("\(what) are a plain integer node") }
        return try child.integers()
    }

    /// Returns the bytes of value `row` without the terminator, or nil for null.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the value lies outside the byte node, or when a string has no
    ///   final zero byte.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        if nulls[row] != 0 { return nil }
        let first = row == 0 ? 0 : ends[row - 1]
        let end = ends[row]
        guard first >= 0, end <= Int64(bytes.count), isText ? first < end : first <= end else {
            throw corruptEnd(row)
        }
        let last = Int(isText ? end &- 1 : end)
        if isText, bytes[last] != 0 { throw corruptText(row) }
        return bytes.slice(Int(first), last)
    }

    /// Returns the first eight bytes of the text in `row` as a big-endian number, so that numbers
    /// sort as the texts do; missing bytes are 0.
    ///
    /// - Parameters:
    ///   - row: A row in `0..<count`.
    ///   - start: Where the text begins in `bytes`.
    ///   - end: Where its terminator ends.
    /// - Returns: The number, or nil for null and for a text that does not lie inside the bytes.
    @inline(__always)
    func leadingBytes(_ row: Int, _ start: Int64, _ end: Int64) -> UInt64? {
        guard start >= 0, start < end, end <= Int64(bytes.count), nulls[row] == 0 else { return nil }
        let byteCount = Int(end &- start) &- 1
        return bytes.word(at: Int(start)) & ByteView.leadingOnes(byteCount: byteCount)
    }

    /// Makes the error for a value that does not lie inside the bytes of the leaf.
    package func corruptEnd(_ row: Int) -> StorageError { corrupt("value \(row) ends outside its bytes") }

    /// Makes the error for a text that does not end with a zero byte.
    func corruptText(_ row: Int) -> StorageError { corrupt("string \(row) has no final zero byte") }

    /// Makes a `.corrupt` error that names this leaf.
    func corrupt(_ reason: String) -> StorageError { .corrupt(ref: ref, reason: reason) }
}
