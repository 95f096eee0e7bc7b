// SPDX-License-Identifier: Apache-2.0

/// The list of distinct strings of an enumerated column while a transaction changes it.
///
/// The list only grows. `root` may be another after any change of a leaf; its place is the column's entry in the
/// spec. Source: docs/format.md, "String".
package final class EnumerationWriter {
    /// The root of the list; another after it has grown.
    package private(set) var root: Ref
    /// Where the nodes of the transaction are.
    private let writes: WriteSpace
    /// Reads the present list.
    package private(set) var strings: StringEnumeration
    /// Positions that were looked up, by the bytes of the string; null is apart.
    private var known: [[UInt8]: Int64] = [:]
    /// The position of null, once it was looked up.
    private var knownNull: Int64?

    /// A writer for the list at `root`.
    package init(_ writes: WriteSpace, root: Ref) {
        self.writes = writes
        self.root = root
        strings = StringEnumeration(root: root, space: writes.space)
    }

    /// Whether the list has `bytes`, or can take it: a list of several leaves is not extended.
    func accepts(_ bytes: ByteView?) throws(StorageError) -> Bool {
        if try !writes.node(at: root).isInner { return true }
        return try position(of: bytes) != nil
    }

    /// Where a string is in the list, or nil.
    package func position(of bytes: ByteView?) throws(StorageError) -> Int64? {
        if let known = bytes.map({ known[$0.array] }) ?? knownNull { return known }
        guard let position = try strings.index(of: bytes) else { return nil }
        remember(bytes, position)
        return position
    }

    /// Where a string is in the list, which takes it when it was not there.
    func addedPosition(of bytes: ByteView?) throws(StorageError) -> Int64 {
        if let position = try position(of: bytes) { return position }
        let list = StringLeafForm(writes: writes, isNullable: true, enumeration: nil)
        let position = try list.count(root)
        root = try list.insert(bytes, at: position, in: root)
        strings = StringEnumeration(root: root, space: writes.space)
        remember(bytes, Int64(position))
        return Int64(position)
    }

    /// Keeps a position for the next look-up.
    private func remember(_ bytes: ByteView?, _ position: Int64) {
        if let bytes { known[bytes.array] = position } else { knownNull = position }
    }
}
