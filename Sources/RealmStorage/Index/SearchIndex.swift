// SPDX-License-Identifier: Apache-2.0

/// The search index of a column: from a value to the keys of the objects that hold it.
///
/// A node is `[keys, v1, v2, …]` with as many ascending signed 32-bit keys as values. A value is one object key
/// (a number), a list of object keys (a ref without context flag), or a subindex for the next four bytes (a ref with
/// context flag). Inner nodes hold `[keys, children…]`, each key the largest of its child.
/// Source: docs/format.md, "Search indexes".
package struct SearchIndex: Sendable {
    /// What a slot of an index node leads to.
    package enum Entry: Sendable {
        case one(ObjectKey)
        case list(BPlusTree)
        case subindex(Ref)
    }

    /// Levels of subindexes and inner nodes together; general indexes end at offset 200, words after 64 bytes.
    static let maximumDepth = 4096

    /// Lists of object keys are trees of plain integers.
    static let listShape = ElementShape(type: .int, isNullable: false)

    package let root: Ref
    package let space: NodeSpace

    package init(root: Ref, space: NodeSpace) {
        self.root = root
        self.space = space
    }

    /// The keys of all objects whose value *may* be `value`, ascending within a list.
    ///
    /// One object, and lists below the last level, are filed by a prefix of the data only, so the caller compares values.
    package func candidates(for value: Value) throws(StorageError) -> [ObjectKey] {
        switch try filed(under: value) {
        case .one(let key): return [key]
        case .list(let tree): return try tree.objectKeys()
        case .subindex, nil: return []
        }
    }

    /// The one object or the list that is filed where `value` belongs; nil when nothing is. Never a subindex.
    func filed(under value: Value) throws(StorageError) -> Entry? {
        let data = IndexData(value)
        var offset = 0
        var node = root
        for _ in 0..<SearchIndex.maximumDepth {
            guard let entry = try entry(for: data.key(at: offset), in: node) else { return nil }
            guard case .subindex(let next) = entry else { return entry }
            node = next
            offset += 4
        }
        throw .corrupt(ref: root, reason: "a search index without end")
    }

    /// The entry under `key` in the index node at `ref`, or nil.
    package func entry(for key: Int32, in ref: Ref) throws(StorageError) -> Entry? {
        switch try slot(for: key, in: ref) {
        case .absent: return nil
        case .one(let object): return .one(object)
        case .list(let list): return .list(try BPlusTree(root: list, space: space, shape: SearchIndex.listShape))
        case .subindex(let next): return .subindex(next)
        }
    }

    /// What stands under `key` in the index node at `ref`.
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

/// One node of a search index, checked.
struct IndexNode {
    let node: Node
    private let space: NodeSpace
    private let keys: PackedIntegers
    /// Whether the flags of the key node are those of plain integers.
    let keysArePlain: Bool

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

    var isInner: Bool { node.isInner }
    var count: Int { keys.count }
    func key(_ position: Int) -> Int32 { Int32(truncatingIfNeeded: keys[position]) }
    /// Bits per key: 32 in every file of a known writer.
    var keyWidth: Int { keys.width }

    /// The first position whose key is not below `key`.
    func lowerBound(_ key: Int32) -> Int { keys.lowerBound(signed: Int64(key)) }

    /// What stands at `position`, without a look into lists.
    func slot(_ position: Int) throws(StorageError) -> IndexSlot {
        switch try node.slot(position + 1) {
        case .none: throw node.corrupt("index entry \(position) is empty")
        case .tagged(let key): return .one(ObjectKey(Int64(bitPattern: key)))
        case .ref(let ref): return try space.node(at: ref).hasContext ? .subindex(ref) : .list(ref)
        }
    }

    func child(_ position: Int) throws(StorageError) -> Ref { try node.requiredRef(position + 1, "child of an index") }

    func entry(_ position: Int) throws(StorageError) -> SearchIndex.Entry {
        switch try slot(position) {
        case .absent: throw node.corrupt("index entry \(position) is empty")
        case .one(let key): return .one(key)
        case .subindex(let ref): return .subindex(ref)
        case .list(let ref): return .list(try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape))
        }
    }
}
