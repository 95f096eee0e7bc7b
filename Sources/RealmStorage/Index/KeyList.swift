// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The list of object keys under one key of a search index.
///
/// Short lists are one leaf of integers, which is read without making a tree of it. Keys ascend among objects of equal value.
struct KeyList {
    /// The two forms in which a list of object keys is stored.
    private enum Form {
        /// The only leaf, when there is no inner node, which is the usual case.
        case leaf(PackedIntegers)
        /// A B+ tree of object keys, for long lists.
        case tree(BPlusTree)
    }

    private let form: Form
    /// How many objects are in the list, at least one.
    let count: Int

    /// Attaches the list at `ref`, a leaf or a tree; throws `.corrupt` for an empty one.
    init(_ ref: Ref, _ space: NodeSpace) throws(StorageError) {
        let root = try space.node(at: ref)
        if root.isInner {
            let tree = try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape)
            form = .tree(tree)
            count = tree.count
        } else {
            let elements = try IntLeaf(root, isNullable: false).elements
            form = .leaf(elements)
            count = elements.count
        }
        guard count > 0 else { throw root.corrupt("an empty list in an index") }
    }

    /// Returns the object at `index`, which must be in `0..<count`.
    func key(_ index: Int) throws(StorageError) -> ObjectKey {
        switch form {
        case .leaf(let elements): return ObjectKey(elements[index])
        case .tree(let tree):
            let place = try tree.place(of: index)
            guard case .int(let integers) = place.leaf else {
                throw .corrupt(ref: tree.root, reason: "a list of object keys holds something else")
            }
            return ObjectKey(integers.elements[place.row])
        }
    }

    /// Returns all objects in the order of the list.
    func all() throws(StorageError) -> [ObjectKey] {
        switch form {
        case .leaf(let elements): return (0..<elements.count).map { ObjectKey(elements[$0]) }
        case .tree(let tree): return try tree.objectKeys()
        }
    }

    /// Returns the first position for which `isBelow` is false, given that it is true for all before and false for all after.
    ///
    /// - Complexity: O(log n) calls.
    func partition(_ isBelow: (ObjectKey) throws(StorageError) -> Bool) throws(StorageError) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) >> 1
            if try isBelow(try key(middle)) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the position of `object`, or nil. Lists of equal values ascend and are halved; if
    /// that does not find it, the list is read in full.
    func position(of object: ObjectKey) throws(StorageError) -> Int? {
        let position = try partition { (key) throws(StorageError) in key < object }
        if position < count, try key(position) == object { return position }
        return try all().firstIndex(of: object)
    }
}
