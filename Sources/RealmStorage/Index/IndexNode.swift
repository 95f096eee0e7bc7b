// SPDX-License-Identifier: Apache-2.0

/// One node of a search index, checked.
///
/// Attaching checks that there are as many keys as entries. That keys ascend is checked by `verify`, not by look-ups, which would
/// have to read all of them.
struct IndexNode {
    /// The node that this reads.
    let node: Node
    /// The space that entries are read in.
    private let space: NodeSpace
    /// The keys of the entries, ascending.
    private let keys: PackedIntegers
    /// Whether the flags of the key node are those of plain integers.
    let keysArePlain: Bool

    /// Attaches the index node at `ref`. Throws `.corrupt` for another shape.
    init(_ ref: Ref, _ space: NodeSpace) throws(StorageError) {
        node = try space.node(at: ref)
        self.space = space
        guard node.hasRefs, node.hasContext, node.count >= 1 else { throw node.corrupt("index node expected") }
        let list = try space.node(at: try node.requiredRef(0, "index keys"))
        guard !list.hasRefs else { throw list.corrupt("index keys are a plain integer node") }
        keys = try list.integers()
        keysArePlain = !list.hasContext
        guard keys.count == node.count - 1 else {
            throw node.corrupt("\(keys.count) index keys for \(node.count - 1) entries")
        }
    }

    /// Whether the entries are children of the same level.
    var isInner: Bool { node.isInner }
    /// How many entries there are.
    var count: Int { keys.count }
    /// The key of an entry; in an inner node the largest key of the child.
    func key(_ position: Int) -> Int32 { Int32(truncatingIfNeeded: keys[position]) }
    /// Bits per key: 32 in every file of a known writer.
    var keyWidth: Int { keys.width }

    /// The first position whose key is not below `key`.
    func lowerBound(_ key: Int32) -> Int { keys.lowerBound(signed: Int64(key)) }

    /// What is at `position`, without a look into lists.
    func slot(_ position: Int) throws(StorageError) -> IndexSlot {
        switch try node.slot(position + 1) {
        case .none: throw emptyEntry(position)
        case .tagged(let key): return .one(ObjectKey(Int64(bitPattern: key)))
        case .ref(let ref): return try space.node(at: ref).hasContext ? .subindex(ref) : .list(ref)
        }
    }

    /// The child of an inner node.
    func child(_ position: Int) throws(StorageError) -> Ref { try node.requiredRef(position + 1, "child of an index") }

    /// The entry at `position` of a leaf.
    func entry(_ position: Int) throws(StorageError) -> SearchIndex.Entry {
        switch try slot(position) {
        case .absent: throw emptyEntry(position)
        case .one(let key): return .one(key)
        case .subindex(let ref): return .subindex(ref)
        case .list(let ref): return .list(try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape))
        }
    }

    /// What is wrong with an entry that leads nowhere.
    private func emptyEntry(_ position: Int) -> StorageError { node.corrupt("index entry \(position) is empty") }
}
