// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The list of distinct strings of an enumerated column while a transaction changes it.
///
/// The list only grows. Each new string may move its root, so the owner stores `root` in the
/// column's entry of the spec after changing leaves. Positions that were looked up are cached,
/// because finding one reads the list from its start. Source: docs/format.md, "String".
package final class EnumerationWriter {
    /// The root of the list; another after it has grown.
    package private(set) var root: Ref
    /// The nodes of the transaction, committed and new.
    private let writes: WriteSpace
    /// A reader of the list of distinct strings in its present state.
    package private(set) var strings: StringEnumeration
    /// Positions that were looked up, by the bytes of the string; null is apart.
    private var known: [[UInt8]: Int64] = [:]
    /// The position of null, once it was looked up.
    private var knownNull: Int64?

    /// Makes a writer for the list at `root`; no node is read yet.
    package init(_ writes: WriteSpace, root: Ref) {
        self.writes = writes
        self.root = root
        strings = StringEnumeration(root: root, space: writes.space)
    }

    /// Returns whether the list has `bytes` or can take it; a list of several leaves is not extended, only searched.
    ///
    /// - Parameter bytes: The string; nil is null.
    func accepts(_ bytes: ByteView?) throws(StorageError) -> Bool {
        if try !writes.node(at: root).isInner { return true }
        return try position(of: bytes) != nil
    }

    /// Returns the position of a string in the list, or nil when the list does not have it.
    ///
    /// - Parameter bytes: The string; nil is null.
    /// - Complexity: O(length of the list) for the first look-up of a string, then O(1).
    package func position(of bytes: ByteView?) throws(StorageError) -> Int64? {
        if let known = bytes.map({ known[$0.array] }) ?? knownNull { return known }
        guard let position = try strings.index(of: bytes) else { return nil }
        remember(bytes, position)
        return position
    }

    /// Returns the position of a string in the list, which is appended if the list does not have it.
    ///
    /// - Parameter bytes: The string; nil is null.
    /// - Throws: `.corrupt` when the list is damaged.
    func addedPosition(of bytes: ByteView?) throws(StorageError) -> Int64 {
        if let position = try position(of: bytes) { return position }
        let list = StringLeafForm(writes: writes, isNullable: true, enumeration: nil)
        let position = try list.count(root)
        root = try list.insert(bytes, at: position, in: root)
        strings = StringEnumeration(root: root, space: writes.space)
        remember(bytes, Int64(position))
        return Int64(position)
    }

    /// Stores the position of a string, so that its next look-up need not search the list.
    private func remember(_ bytes: ByteView?, _ position: Int64) {
        if let bytes { known[bytes.array] = position } else { knownNull = position }
    }
}
