// SPDX-License-Identifier: Apache-2.0

/// Incoming links of one object from one origin column: object keys of the origin table, in no particular order.
///
/// One link is kept in the slot itself; more are a tree of keys, in which an origin that links several times is listed as often.
/// Source: docs/format.md, "Backlinks".
package struct BacklinkView: Sendable {
    /// How many links come in, and how they are kept.
    private enum Form: Sendable {
        /// No incoming links.
        case none
        /// One incoming link, kept in the slot itself.
        case one(ObjectKey)
        /// A tree of incoming links.
        case many(BPlusTree)
    }

    /// How the links are kept.
    private let form: Form
    /// How many links come in.
    package let count: Int

    /// What the slot of a backlink column holds.
    init(_ slot: Node.Slot, _ space: NodeSpace) throws(StorageError) {
        switch slot {
        case .none:
            form = .none
            count = 0
        case .tagged(let key):
            form = .one(ObjectKey(Int64(key)))
            count = 1
        case .ref(let ref):
            let tree = try BPlusTree(root: ref, space: space, shape: ElementShape(type: .int, isNullable: false))
            form = .many(tree)
            count = tree.count
        }
    }

    /// All origin keys, as stored.
    ///
    /// O(number of links). An origin that links to the object several times is in the result as often.
    package func keys() throws(StorageError) -> [ObjectKey] {
        switch form {
        case .none: return []
        case .one(let key): return [key]
        case .many(let tree): return try tree.objectKeys()
        }
    }
}
