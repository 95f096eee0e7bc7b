// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The incoming links of one object from one origin column: object keys of the origin table, in no particular order.
///
/// A single link is stored in the slot itself; more are a tree of keys, in which an origin that links several times is listed
/// as often. Source: docs/format.md, "Backlinks".
package struct BacklinkView: Sendable {
    /// How the incoming links are stored.
    private enum Form: Sendable {
        /// No object links to this one from the origin column.
        case none
        /// One incoming link, kept in the slot itself.
        case one(ObjectKey)
        /// Several links: a tree of the origins' keys.
        case many(BPlusTree)
        /// The origins that a view shows, where it does not show all.
        case visible([ObjectKey])
    }

    /// How the links of this object are stored.
    private let form: Form
    /// How many links there are, counting each link of an origin that links several times.
    package let count: Int

    /// Makes a view of what the slot of a backlink column holds for an object.
    ///
    /// - Parameters:
    ///   - space: The space that the tree is read in, which may hide some of the links.
    ///   - origin: The table that the links come from.
    /// - Throws: `.corrupt` when a ref does not lead to a tree of keys.
    /// - Complexity: O(number of links) where the space may hide links, O(1) elsewhere.
    init(_ slot: Node.Slot, _ space: NodeSpace, from origin: TableKey) throws(StorageError) {
        if let filter = space.linkFilter, filter.mayHide(origin) {
            let visible = try filter.visible(try BacklinkView(stored: slot, space).keys(), of: origin)
            form = .visible(visible)
            count = visible.count
        } else {
            self = try BacklinkView(stored: slot, space)
        }
    }

    /// Makes a view of all links that a slot holds.
    private init(stored slot: Node.Slot, _ space: NodeSpace) throws(StorageError) {
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

    /// Returns the keys of all origins, as stored. An origin that links to the object several times is in the result as often.
    ///
    /// - Complexity: O(number of links).
    package func keys() throws(StorageError) -> [ObjectKey] {
        switch form {
        case .none: return []
        case .one(let key): return [key]
        case .many(let tree): return try tree.objectKeys()
        case .visible(let keys): return keys
        }
    }

    /// Calls a function with what `keys` returns, a leaf at a time.
    ///
    /// - Throws: The errors of the function, and `.corrupt` for a damaged tree.
    package func forEachLeaf(_ body: ([ObjectKey]) throws -> Void) throws {
        guard case .many(let tree) = form else { return try body(try keys()) }
        var cursor = tree.leaves()
        while let (leaf, _) = try cursor.next() {
            guard case .int(let integers) = leaf else { continue }
            let elements = integers.elements
            try body((0..<integers.count).map { ObjectKey(elements[$0]) })
        }
    }
}
