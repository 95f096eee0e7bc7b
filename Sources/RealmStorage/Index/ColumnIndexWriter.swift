// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes the search index of one column, whatever its kind.
///
/// Where a method returns nil, the index disagrees with the old value of the object and nothing is
/// changed: the index in the file was damaged, and `build(from:)` makes a new one.
///
/// It is a class, because a transaction keeps one for each index and calls it for every object.
package final class ColumnIndexWriter {
    /// The kinds of index with their writers.
    private enum Form {
        /// A general index of single values.
        case values(SearchIndexWriter)
        /// A full-text index of the words of texts.
        case texts(FullTextIndexWriter)
        /// A general index of the elements of lists of strings.
        case elements(WordIndexWriter)
    }

    private let form: Form
    private let column: Column

    /// Makes a writer for the index of a column.
    ///
    /// - Parameters:
    ///   - isFullText: Whether the words of texts are indexed rather than whole values.
    ///   - writes: The nodes of the transaction.
    ///   - capacity: The size of index nodes; other sizes than the standard are for tests.
    ///   - valueOf: Returns the present value of another object; indexes of words never call it.
    /// - Throws: `.limit` for a column whose type cannot have such an index.
    package init(
        _ column: Column, isFullText: Bool, _ writes: WriteSpace, capacity: IndexCapacity = .standard,
        valueOf: @escaping SearchIndexWriter.ValueSource
    ) throws(StorageError) {
        self.column = column
        switch (column.collection, column.type, isFullText) {
        case (nil, .string, true): form = .texts(FullTextIndexWriter(writes, capacity: capacity))
        case (.list, .string, false): form = .elements(WordIndexWriter(writes, capacity: capacity))
        case (nil, .int, false), (nil, .bool, false), (nil, .string, false), (nil, .timestamp, false),
            (nil, .objectID, false), (nil, .uuid, false), (nil, .mixed, false):
            let isMixed = column.type == .mixed
            form = .values(SearchIndexWriter(writes, isMixed: isMixed, capacity: capacity, valueOf: valueOf))
        default: throw .limit("'\(column.name)' cannot have such an index")
        }
    }

    /// Makes an index without entries and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref {
        switch form {
        case .values(let writer): return try writer.makeEmpty()
        case .texts(let writer): return try writer.makeEmpty()
        case .elements(let writer): return try writer.makeEmpty()
        }
    }

    // MARK: - Single values

    /// Adds a new object, which has `value` in the table already, and returns the new root. An
    /// index of lists is not changed, as a new list is empty.
    package func insert(_ value: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        switch form {
        case .values(let writer): return try writer.insert(value, object, into: root)
        case .texts(let writer): return try writer.insert(value, object, into: root)
        case .elements: return root
        }
    }

    /// Adds new objects, which have their values in the table already, and returns the new root. An index of lists is not
    /// changed, as new lists are empty.
    ///
    /// - Parameters:
    ///   - entries: The values with their objects, in ascending order of the objects.
    ///   - root: The root of the index, which must not be used any more.
    package func insert(_ entries: [(value: Value, object: ObjectKey)], into root: Ref) throws(StorageError) -> Ref {
        switch form {
        case .values(let writer): return try writer.insert(entries, into: root)
        case .texts(let writer):
            var root = root
            for entry in entries { root = try writer.insert(entry.value, entry.object, into: root) }
            return root
        case .elements: return root
        }
    }

    /// Removes an object that is, or was, stored with `value`.
    ///
    /// - Returns: The new root; nil when the index does not have the object under the value.
    package func erase(_ value: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        switch form {
        case .values(let writer): return try writer.erase(value, object, from: root)
        case .texts(let writer): return try writer.erase(value, object, from: root)
        case .elements: return root
        }
    }

    /// Moves an object from its old to its new value, before or after the stored value changes.
    ///
    /// - Returns: The new root; nil when the index does not have the object under the old value.
    /// - Parameters:
    ///   - root: The root of the index, which must not be used any more unless nil is returned.
    package func replace(
        _ old: Value, by new: Value, _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        switch form {
        case .values(let writer): return try writer.replace(old, by: new, object, in: root)
        case .texts(let writer): return try writer.replace(old, by: new, object, in: root)
        case .elements: return root
        }
    }

    // MARK: - Lists

    /// Moves an object from the elements that its list had to those that it has. The order of elements does not matter.
    ///
    /// - Parameters:
    ///   - old: The former elements, as the index has them.
    ///   - new: The present elements.
    ///   - object: The object that holds the list.
    /// - Returns: The new root; nil when the index does not have the object under all old elements.
    package func replaceElements(
        _ old: [Value], by new: [Value], _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        guard case .elements(let writer) = form else { return root }
        return try writer.replace(old.map(ColumnIndexWriter.word), by: new.map(ColumnIndexWriter.word), object, in: root)
    }

    /// Returns the bytes under which an element of a list is filed; nil for null.
    private static func word(_ element: Value) -> [UInt8]? {
        guard case .string(let text) = element else { return nil }
        return text.array
    }

    // MARK: - Building

    /// The cost of adding one value to an index, in units of a work budget.
    private static let unitsPerValue = 4

    /// Builds an index of all objects of a table and returns its root.
    ///
    /// All values of the column are read first, sorted, and packed into nodes that are as full as
    /// possible. Memory grows with the number of objects.
    ///
    /// - Parameters:
    ///   - objects: The objects of the table.
    ///   - budget: Limits the time; `.stopped` is thrown when it is used up.
    package func build(from objects: ClusterTree, _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        var values: [(Value, ObjectKey)] = []
        var words: [[UInt8]?: [ObjectKey]] = [:]
        var cursor = objects.leaves()
        while let leaf = try cursor.next() {
            try budget?.spend(leaf.count * ColumnIndexWriter.unitsPerValue)
            if column.collection != nil {
                try gather(leaf, &words, budget)
                continue
            }
            let column = try leaf.attach(column)
            for row in 0..<leaf.count { values.append((try column.value(row), leaf.key(at: row))) }
        }
        switch form {
        case .values(let writer): return try writer.build(values, budget)
        case .texts(let writer): return try writer.build(values, budget)
        case .elements(let writer): return try writer.build(words, budget)
        }
    }

    /// Adds the elements of the lists in a leaf to `words`, with the objects that hold them.
    private func gather(_ leaf: ClusterLeaf, _ words: inout [[UInt8]?: [ObjectKey]], _ budget: WorkBudget?) throws(StorageError) {
        for row in 0..<leaf.count {
            let root = try leaf.collectionRoot(column, row: row)
            var elements = try ListView(root: root, space: leaf.space, shape: column.elementShape).elements()
            while let value = try elements.next() {
                try budget?.spend(ColumnIndexWriter.unitsPerValue)
                words[ColumnIndexWriter.word(value), default: []].append(leaf.key(at: row))
            }
        }
    }
}

/// Replacement of a value in a general index.
extension SearchIndexWriter {
    /// Moves `object` from one value to another, or does nothing when both are filed alike.
    ///
    /// - Returns: The new root; nil when the index does not have the object under the old value.
    package func replace(
        _ old: Value, by new: Value, _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        if IndexData(old) == IndexData(new), !isMixed || Value.order(old, new) == 0 { return root }
        guard let rest = try erase(old, object, from: root) else { return nil }
        return try insert(new, object, into: rest)
    }
}
