// SPDX-License-Identifier: Apache-2.0

/// The flag that says that a tree of links has unresolved ones.
extension BPlusTreeWriter {
    /// Readers pass over unresolved links only where the root says that there are some.
    private var hasFlag: Bool { shape.type == .link }

    /// Whether the value is a link to a tombstone.
    static func isUnresolved(_ value: Value) -> Bool {
        if case .link(_, let key) = value { return key.rawValue < 0 }
        return false
    }

    /// Takes the flag off the root, which may not be the root for long. Returns whether it was there.
    func lowerFlag(_ root: inout Ref) throws(StorageError) -> Bool {
        guard hasFlag, try writes.node(at: root).hasContext else { return false }
        let node = try writes.writable(root)
        node.setContext(false)
        root = node.ref
        return true
    }

    /// Sets the flag of the root again if it has to be there.
    func raiseFlag(_ root: Ref, _ isSet: Bool) throws(StorageError) -> Ref {
        guard hasFlag, isSet else { return root }
        let node = try writes.writable(root)
        node.setContext(true)
        return node.ref
    }

    /// Whether any element links to a tombstone. Looks at all of them.
    func hasUnresolved(_ root: Ref) throws(StorageError) -> Bool {
        var cursor = try tree(root).leaves()
        while let (leaf, _) = try cursor.next() {
            guard case .link(let links) = leaf else { continue }
            for row in 0..<links.count where links.key(row).rawValue < 0 { return true }
        }
        return false
    }
}
