// SPDX-License-Identifier: Apache-2.0

/// The list of object keys under one key of a search index.
struct KeyList {
    private let tree: BPlusTree
    /// The only leaf, when there is no inner node: the usual case.
    private let leaf: PackedIntegers?
    let count: Int

    init(_ ref: Ref, _ space: NodeSpace) throws(StorageError) {
        tree = try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape)
        let root = try space.node(at: ref)
        leaf = root.isInner ? nil : try root.integers()
        count = tree.count
        guard count > 0 else { throw root.corrupt("an empty list in an index") }
    }

    /// The object at `index`, which must be in `0..<count`.
    func key(_ index: Int) throws(StorageError) -> ObjectKey {
        if let leaf { return ObjectKey(leaf[index]) }
        guard case .int(let number) = try tree.value(at: index) else { return .null }
        return ObjectKey(number)
    }

    func all() throws(StorageError) -> [ObjectKey] { try tree.objectKeys() }

    /// The first position for which `isBelow` is false; it is true for all before.
    func partition(_ isBelow: (ObjectKey) throws(StorageError) -> Bool) throws(StorageError) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) >> 1
            if try isBelow(try key(middle)) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Where `object` stands. Lists of equal values ascend; in others it is looked for one by one.
    func position(of object: ObjectKey) throws(StorageError) -> Int? {
        let position = try partition { (key) throws(StorageError) in key < object }
        if position < count, try key(position) == object { return position }
        return try all().firstIndex(of: object)
    }
}

/// Changes lists of object keys.
struct KeyListWriter {
    let writes: WriteSpace
    private let trees: BPlusTreeWriter

    init(_ writes: WriteSpace, capacity: Int) {
        self.writes = writes
        trees = BPlusTreeWriter(writes, SearchIndex.listShape, leafCapacity: capacity, fanOut: capacity)
    }

    func make(_ keys: [ObjectKey]) throws(StorageError) -> Ref {
        try trees.append(contentsOf: keys.map { .int($0.rawValue) }, to: try trees.makeEmpty())
    }

    func insert(_ key: ObjectKey, at index: Int, in list: Ref) throws(StorageError) -> Ref {
        try trees.insert(.int(key.rawValue), at: index, in: list)
    }

    /// Takes one object out; what is left when it was the last but one is a single entry.
    func erase(at index: Int, from list: Ref) throws(StorageError) -> IndexSlot {
        let keys = try KeyList(list, writes.space)
        switch keys.count {
        case 1:
            try writes.discardTree(list)
            return .absent
        case 2:
            let rest = try keys.key(1 - index)
            try writes.discardTree(list)
            return .one(rest)
        default: return .list(try trees.erase(at: index, in: list))
        }
    }
}
