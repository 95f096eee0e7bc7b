// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The search index of a column: from a value to the keys of the objects that hold it.
///
/// A node is `[keys, v1, v2, …]` with as many ascending signed 32-bit keys as values. A value is one object key (a number), a
/// list of object keys (a ref without context flag), or a subindex for the next four bytes (a ref with context flag). Inner
/// nodes hold `[keys, children…]`, each key the largest of its child. Source: docs/format.md, "Search indexes".
package struct SearchIndex: Sendable {
    /// The entry of an index node under one key.
    package enum Entry: Sendable {
        /// A single object is filed under the key.
        case one(ObjectKey)
        /// Several objects are filed under the key: their list, in ascending order where their values are equal.
        case list(BPlusTree)
        /// The root of another level, for the next four bytes.
        case subindex(Ref)
    }

    /// The greatest number of levels of subindexes and inner nodes together; general indexes end at
    /// offset 200, words after 64 bytes.
    static let maximumDepth = 4096

    /// The shape of lists of object keys: trees of plain integers.
    package static let listShape = ElementShape(type: .int, isNullable: false)

    /// The root of the index, which its column's table refers to.
    package let root: Ref
    package let space: NodeSpace

    /// Makes a reader of the index below `root`; no node is read yet.
    package init(root: Ref, space: NodeSpace) {
        self.root = root
        self.space = space
    }

    /// Returns the keys of all objects whose value *may* be `value`, ascending within a list.
    ///
    /// Single objects, and lists below the last level, are filed by a prefix of the data only, so
    /// the caller has to compare the values.
    package func candidates(for value: Value) throws(StorageError) -> [ObjectKey] {
        switch try filed(under: value) {
        case .one(let key): return [key]
        case .list(let tree): return try tree.objectKeys()
        case .subindex, nil: return []
        }
    }

    /// Returns the single object or the list that is filed where `value` belongs; nil when there is
    /// none. The result is never a subindex.
    func filed(under value: Value) throws(StorageError) -> Entry? {
        switch try slot(of: IndexData(value)) {
        case .absent, .subindex: return nil
        case .one(let object): return .one(object)
        case .list(let list): return .list(try BPlusTree(root: list, space: space, shape: SearchIndex.listShape))
        }
    }

    /// Returns what is filed where `data` belongs, without reading a list. The result is never a subindex.
    private func slot(of data: IndexData) throws(StorageError) -> IndexSlot {
        var offset = 0
        var node = root
        for _ in 0..<SearchIndex.maximumDepth {
            let slot = try slot(for: data.key(at: offset), in: node)
            guard case .subindex(let next) = slot else { return slot }
            node = next
            offset += 4
        }
        throw .corrupt(ref: root, reason: "a search index without end")
    }

    /// Returns the entry under `key` in the level whose root is at `ref`, or nil.
    ///
    /// - Throws: `.corrupt` for nodes that cannot be read.
    /// - Complexity: O(log n) within one level.
    package func entry(for key: Int32, in ref: Ref) throws(StorageError) -> Entry? {
        switch try slot(for: key, in: ref) {
        case .absent: return nil
        case .one(let object): return .one(object)
        case .list(let list): return .list(try BPlusTree(root: list, space: space, shape: SearchIndex.listShape))
        case .subindex(let next): return .subindex(next)
        }
    }

    /// Returns the entry under `key` in the level whose root is at `ref`, `.absent` when there is none, without reading a list.
    func slot(for key: Int32, in ref: Ref) throws(StorageError) -> IndexSlot {
        var node = try IndexNode(ref, space)
        for _ in 0..<SearchIndex.maximumDepth {
            let position = node.lowerBound(key)
            guard position < node.count else { return .absent }
            guard node.isInner else { return node.key(position) == key ? try node.slot(position) : .absent }
            node = try IndexNode(try node.child(position), space)
        }
        throw .corrupt(ref: ref, reason: "a search index without end")
    }
}
