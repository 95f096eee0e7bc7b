// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes sets: B+ trees of distinct elements in ascending order.
///
/// Numbers of different types that are equal are one element of a set of Mixed. Unresolved links
/// have their places among the others. Source: docs/format.md, "Sets".
package struct SetWriter {
    private let elements: BPlusTreeWriter

    /// Makes a writer of sets of one type. Smaller capacities than the format's 1000 are for tests.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - shape: The type of the elements.
    ///   - leafCapacity: How many elements a full leaf has.
    ///   - fanOut: How many children a full inner node has.
    package init(_ writes: WriteSpace, _ shape: ElementShape, leafCapacity: Int = 1000, fanOut: Int = 1000) {
        elements = BPlusTreeWriter(writes, shape, leafCapacity: leafCapacity, fanOut: fanOut)
    }

    /// The result of an insertion: the set, and the place of the element in it.
    package struct Insertion {
        /// The root of the set after the insertion.
        package let root: Ref
        /// The position of the element in the order of the set.
        package let index: Int
        /// Whether the element was added; false when an equal one existed, and the set did not change.
        package let isNew: Bool
    }

    /// Adds an element unless the set has an equal one.
    ///
    /// - Throws: `.limit` for a value of another type than the set's.
    /// - Complexity: O(log n), but O(n) for floats and doubles, whose sets are scanned.
    package func insert(_ value: Value, in root: Ref) throws(StorageError) -> Insertion {
        let place = try place(of: value, in: root)
        guard !place.isPresent else { return Insertion(root: root, index: place.index, isNew: false) }
        let new = try elements.insert(value, at: place.index, in: root)
        return Insertion(root: new, index: place.index, isNew: true)
    }

    /// Returns the position of the element that equals `value`, or nil when the set has none.
    package func index(of value: Value, in root: Ref) throws(StorageError) -> Int? {
        let place = try place(of: value, in: root)
        return place.isPresent ? place.index : nil
    }

    /// Removes the element at `index` and returns the new root.
    package func erase(at index: Int, in root: Ref) throws(StorageError) -> Ref {
        try elements.erase(at: index, in: root)
    }

    /// Returns the place where an element is, or where it would be inserted.
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
