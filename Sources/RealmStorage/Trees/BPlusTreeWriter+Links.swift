// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The flag of a root that states that a tree of links has unresolved ones.
///
/// Readers leave out unresolved links only where the root states that there are some. While a tree
/// changes, its root may change too, so the flag is removed first and set again on the new root.
extension BPlusTreeWriter {
    /// Whether trees of this type have the flag: only trees of links do.
    private var hasFlag: Bool { shape.type == .link }

    /// Returns whether a value is a link to a tombstone.
    static func isUnresolved(_ value: Value) -> Bool {
        if case .link(_, let key) = value { return key.rawValue < 0 }
        return false
    }

    /// Removes the flag from the root, because another node may become the root.
    ///
    /// - Returns: Whether the flag was set.
    func lowerFlag(_ root: inout Ref) throws(StorageError) -> Bool {
        guard hasFlag, try writes.node(at: root).hasContext else { return false }
        let node = try writes.writable(root)
        node.setContext(false)
        root = node.ref
        return true
    }

    /// Sets the flag of the root if `isSet` is true, and returns the new ref of the root.
    func raiseFlag(_ root: Ref, _ isSet: Bool) throws(StorageError) -> Ref {
        guard hasFlag, isSet else { return root }
        let node = try writes.writable(root)
        node.setContext(true)
        return node.ref
    }

    /// Returns whether any element links to a tombstone.
    ///
    /// - Complexity: O(count): all leaves are read.
    func hasUnresolved(_ root: Ref) throws(StorageError) -> Bool {
        var cursor = try tree(root).leaves()
        while let (leaf, _) = try cursor.next() {
            guard case .link(let links) = leaf else { continue }
            for row in 0..<links.count where links.key(row).rawValue < 0 { return true }
        }
        return false
    }
}
