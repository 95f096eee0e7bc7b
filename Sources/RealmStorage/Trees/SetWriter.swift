// SPDX-License-Identifier: Apache-2.0

/// Changes sets: B+ trees of distinct elements in ascending order.
///
/// Numbers of different types that are equal are one element of a set of Mixed. Unresolved links have their places among
/// the others. Source: docs/format.md, "Sets".
package struct SetWriter {
    /// Changes the elements.
    private let elements: BPlusTreeWriter

    /// Smaller capacities than the format's 1000 are for tests.
    package init(_ writes: WriteSpace, _ shape: ElementShape, leafCapacity: Int = 1000, fanOut: Int = 1000) {
        elements = BPlusTreeWriter(writes, shape, leafCapacity: leafCapacity, fanOut: fanOut)
    }

    /// A set with the place of an element in it.
    package struct Insertion {
        /// The root after the insertion.
        package let root: Ref
        /// The position of the element.
        package let index: Int
        /// False when an equal element was there; the set is as it was.
        package let isNew: Bool
    }

    /// Adds an element unless an equal one is there.
    ///
    /// O(log n), but for floats and doubles, whose sets are scanned. Throws `.limit` for a value of another type than the set's.
    package func insert(_ value: Value, in root: Ref) throws(StorageError) -> Insertion {
        let place = try place(of: value, in: root)
        guard !place.isPresent else { return Insertion(root: root, index: place.index, isNew: false) }
        let new = try elements.insert(value, at: place.index, in: root)
        return Insertion(root: new, index: place.index, isNew: true)
    }

    /// The place of an element that equals `value`, or nil.
    package func index(of value: Value, in root: Ref) throws(StorageError) -> Int? {
        let place = try place(of: value, in: root)
        return place.isPresent ? place.index : nil
    }

    /// Takes element `index` out.
    package func erase(at index: Int, in root: Ref) throws(StorageError) -> Ref {
        try elements.erase(at: index, in: root)
    }

    /// Where an element is, or would go.
    private func place(of value: Value, in root: Ref) throws(StorageError) -> OrderedSearch.Place {
        var search = OrderedSearch(try elements.tree(root))
        let type = elements.shape.type
        let order = type == .decimal ? Value.decimalSetOrder : Value.order
        // The reference engine does not always put a NaN where it belongs.
        if type == .float || type == .double {
            return try search.scan { (leaf, row) throws(StorageError) in order(try leaf.value(row), value) }
        }
        return try search.find { (leaf, row) throws(StorageError) in order(try leaf.storedValue(row), value) }
    }
}
