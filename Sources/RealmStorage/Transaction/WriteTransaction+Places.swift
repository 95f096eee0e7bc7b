// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// From the place of a collection to its root, and back up with its new root.
/// From a place to the root of its collection, and back up with the new root.
extension WriteTransaction {
    /// Changes the collection at `place`, and stores its new root and those of the collections around it.
    ///
    /// - Parameters:
    ///   - change: Replaces the root of the collection; `Ref.none` is a collection that was never
    ///     used.
    /// - Returns: The result of `change`.
    /// - Throws: `.limit` when the place holds no collection.
    func edit<Result>(
        _ place: CollectionPlace, _ change: (inout Ref, CollectionForm) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try refilingElements(place) { () throws(StorageError) -> Result in
            let (old, form) = try outermost(place)
            var root = old
            let result = try edit(&root, form, along: place.path[...], change)
            if root != old { try store(root, outermost: place) }
            return result
        }
    }

    /// Returns the root and form of the collection at `place`, for reading.
    ///
    /// - Throws: `.limit` when the path leads to no collection.
    package func collection(at place: CollectionPlace) throws(StorageError) -> (root: Ref, form: CollectionForm) {
        var (root, form) = try outermost(place)
        for step in place.path {
            let position = try position(of: step, in: root, form)
            (root, form) = try nested(at: position, in: root, form)
        }
        return (root, form)
    }

    /// Returns how many elements the collection at `place` has, unresolved links included.
    ///
    /// - Throws: `.limit` when the place holds no collection.
    package func elementCount(_ place: CollectionPlace) throws(StorageError) -> Int {
        let (root, form) = try collection(at: place)
        return try elementTree(root, form).count
    }

    /// Returns the tree of the elements of a collection, or of the values of a dictionary.
    func elementTree(_ root: Ref, _ form: CollectionForm) throws(StorageError) -> BPlusTree {
        guard case .dictionary = form, !root.isNone else {
            return try BPlusTree(root: root, space: writes.space, shape: form.elements)
        }
        return try BPlusTree(
            root: writes.node(at: root).optionalRef(1, "dictionary values"), space: writes.space, shape: .mixed)
    }

    // MARK: - The collection of the property

    /// Returns the root and form of the collection that the property itself holds; throws `.limit` when it holds none.
    private func outermost(_ place: CollectionPlace) throws(StorageError) -> (Ref, CollectionForm) {
        if let form = CollectionForm(place.column) {
            return (try collectionRoot(place.column, of: place.object, in: place.table), form)
        }
        switch try value(place.column, of: place.object, in: place.table) {
        case .list(let root): return (root, .list(.mixed))
        case .dictionary(let root): return (root, .dictionary)
        default: throw WriteTransaction.noCollection
        }
    }

    /// Stores the root of the collection that the property itself holds.
    private func store(_ root: Ref, outermost place: CollectionPlace) throws(StorageError) {
        guard place.column.collection == nil else {
            return try setCollectionRoot(root, place.column, of: place.object, in: place.table)
        }
        let writer = LeafWriter(writes, .values(.mixed), inCluster: true)
        try updateLeaf(place.column, of: place.object, in: place.table) { leaf, row throws(StorageError) in
            try writer.setNestedRoot(root, at: row, in: leaf)
        }
    }

    // MARK: - Collections inside

    /// Changes the collection at the end of a path, and stores the new roots on the way back.
    private func edit<Result>(
        _ root: inout Ref, _ form: CollectionForm, along path: ArraySlice<PathStep>,
        _ change: (inout Ref, CollectionForm) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let step = path.first else { return try change(&root, form) }
        let position = try position(of: step, in: root, form)
        let (old, inner) = try nested(at: position, in: root, form)
        var child = old
        let result = try edit(&child, inner, along: path.dropFirst(), change)
        if child != old { root = try setNestedRoot(child, at: position, in: root, form) }
        return result
    }

    /// Returns the position of the element that a step of a path means; throws `.limit` when there is none.
    func position(of step: PathStep, in root: Ref, _ form: CollectionForm) throws(StorageError) -> Int {
        switch (step, form) {
        case (.index(let index), .list), (.index(let index), .set):
            guard index >= 0, index < (try elementTree(root, form).count) else { throw WriteTransaction.noElement }
            return index
        case (.key(let key), .dictionary):
            guard let position = try DictionaryWriter(writes).position(of: key, in: root) else {
                throw WriteTransaction.noElement
            }
            return position
        default: throw WriteTransaction.noElement
        }
    }

    /// Returns the root and form of the collection nested in the element at `position`; throws
    /// `.limit` when the element is of another type.
    func nested(at position: Int, in root: Ref, _ form: CollectionForm) throws(StorageError) -> (Ref, CollectionForm) {
        switch try elementTree(root, form).value(at: position) {
        case .list(let root): return (root, .list(.mixed))
        case .dictionary(let root): return (root, .dictionary)
        default: throw WriteTransaction.noCollection
        }
    }

    /// Stores the new root of a nested collection; returns the new root of the collection around it.
    func setNestedRoot(
        _ child: Ref, at position: Int, in root: Ref, _ form: CollectionForm
    ) throws(StorageError) -> Ref {
        let writer = LeafWriter(writes, .values(.mixed), inCluster: false)
        return try updateElement(at: position, in: root, form) { leaf, row throws(StorageError) in
            try writer.setNestedRoot(child, at: row, in: leaf)
        }
    }

    /// Replaces the leaf that holds an element; returns the new root of its collection.
    ///
    /// - Parameters:
    ///   - position: The element, or the value of a dictionary's entry.
    ///   - form: Its kind and the type of its elements.
    ///   - change: Returns the ref of the leaf that takes the place of `leaf`; the element is in
    ///     `row`.
    func updateElement(
        at position: Int, in root: Ref, _ form: CollectionForm,
        _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) -> Ref {
        let writer = BPlusTreeWriter(writes, form.elements)
        guard case .dictionary = form else { return try writer.update(at: position, in: root, change) }
        var top = try writes.writable(root)
        try top.set(1, try writer.update(at: position, in: top.ref(1), change))
        return top.ref
    }

    /// The error for a path that leads to a value that is not a collection.
    static let noCollection = StorageError.limit("the value is not a collection")
    /// The error for a path that leads past the end of a collection, or to a missing key.
    static let noElement = StorageError.limit("the collection has no such element")
}
