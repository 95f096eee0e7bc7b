// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One node of a search index, attached and checked.
///
/// Attaching checks that there are as many keys as entries. Whether keys ascend is checked by
/// `verify`, not by look-ups, which would have to read all of them.
package struct IndexNode {
    /// The node that is viewed.
    package let node: Node
    /// The space that its refs point into.
    private let space: NodeSpace
    /// The keys of the entries, ascending.
    private let keys: PackedIntegers
    /// Whether the flags of the key node are those of plain integers.
    package let keysArePlain: Bool

    /// Attaches the index node at `ref`.
    ///
    /// - Throws: `.corrupt` for another shape, or when keys and entries differ in number.
    @inline(__always) package init(_ ref: Ref, _ space: NodeSpace) throws(StorageError) {
        node = try space.node(at: ref)
        self.space = space
        guard node.hasRefs, node.hasContext, node.count >= 1 else { throw node.corrupt("expected an index node, found another") }
        let list = try space.node(at: try node.requiredRef(0, "index keys"))
        guard !list.hasRefs else { throw list.corrupt("index keys are a plain integer node") }
        keys = try list.integers()
        keysArePlain = !list.hasContext
        guard keys.count == node.count - 1 else {
            throw node.corrupt("\(keys.count) index keys for \(node.count - 1) entries")
        }
    }

    /// Whether the entries are child nodes of the same level.
    package var isInner: Bool { node.isInner }
    /// How many entries the node has, which is the number of its keys.
    package var count: Int { keys.count }
    /// Returns the key of an entry; in an inner node it is the largest key of the child.
    package func key(_ position: Int) -> Int32 { Int32(truncatingIfNeeded: keys[position]) }
    /// The number of bits per key: 32 in every file of a known writer.
    package var keyWidth: Int { keys.width }

    /// Returns the first position whose key is not below `key`; `count` when there is none.
    func lowerBound(_ key: Int32) -> Int { keys.lowerBound(signed: Int64(key)) }

    /// Returns the entry at `position`, without reading a list; throws `.corrupt` for an empty one.
    @inline(__always) package func slot(_ position: Int) throws(StorageError) -> IndexSlot {
        switch try node.slot(position + 1) {
        case .none: throw emptyEntry(position)
        case .tagged(let key): return .one(ObjectKey(Int64(bitPattern: key)))
        case .ref(let ref): return try space.node(at: ref).hasContext ? .subindex(ref) : .list(ref)
        }
    }

    /// Returns the ref of a child of an inner node.
    @inline(__always) package func child(_ position: Int) throws(StorageError) -> Ref {
        try node.requiredRef(position + 1, "child of an index")
    }

    /// Returns the entry at `position` of a leaf, with its list attached.
    func entry(_ position: Int) throws(StorageError) -> SearchIndex.Entry {
        switch try slot(position) {
        case .absent: throw emptyEntry(position)
        case .one(let key): return .one(key)
        case .subindex(let ref): return .subindex(ref)
        case .list(let ref): return .list(try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape))
        }
    }

    private func emptyEntry(_ position: Int) -> StorageError { node.corrupt("index entry \(position) is empty") }
}
