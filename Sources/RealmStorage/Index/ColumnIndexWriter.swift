// SPDX-License-Identifier: Apache-2.0

/// Keeps the search index of one column, whatever its kind.
///
/// Where a method returns nil, the index disagrees with the old value of the object and nothing is changed: the file
/// came with a damaged index, which `build(from:)` replaces.
///
/// A class, because a transaction keeps one for each index and asks it for every object.
package final class ColumnIndexWriter {
    /// Which kind of index the column has.
    private enum Form {
        /// An index of single values.
        case values(SearchIndexWriter)
        /// A full-text index.
        case texts(FullTextIndexWriter)
        /// An index of the elements of lists.
        case elements(WordIndexWriter)
    }

    /// Which kind of index the column has.
    private let form: Form
    /// The column that is indexed.
    private let column: Column

    /// `valueOf` returns the present value of another object; indexes of words never ask. Throws `.limit` for a column
    /// that cannot have an index.
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

    /// An index of nothing.
    package func makeEmpty() throws(StorageError) -> Ref {
        switch form {
        case .values(let writer): return try writer.makeEmpty()
        case .texts(let writer): return try writer.makeEmpty()
        case .elements(let writer): return try writer.makeEmpty()
        }
    }

    // MARK: - Single values

    /// Files a new object, which is in the table with `value` already. A list is empty at first and files nothing.
    package func insert(_ value: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        switch form {
        case .values(let writer): return try writer.insert(value, object, into: root)
        case .texts(let writer): return try writer.insert(value, object, into: root)
        case .elements: return root
        }
    }

    /// Takes an object out that is, or was, stored with `value`.
    package func erase(_ value: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        switch form {
        case .values(let writer): return try writer.erase(value, object, from: root)
        case .texts(let writer): return try writer.erase(value, object, from: root)
        case .elements: return root
        }
    }

    /// Moves an object from its old to its new value, before or after the stored value changes.
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

    /// Moves an object from the elements that its list had to those that it has, in any order.
    package func replaceElements(
        _ old: [Value], by new: [Value], _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        guard case .elements(let writer) = form else { return root }
        return try writer.replace(old.map(ColumnIndexWriter.word), by: new.map(ColumnIndexWriter.word), object, in: root)
    }

    /// What an element of a list is filed under; nil for null.
    private static func word(_ element: Value) -> [UInt8]? {
        guard case .string(let text) = element else { return nil }
        return text.array
    }

    // MARK: - Building

    /// What filing one value costs, in units of a budget.
    private static let unitsPerValue = 4

    /// A new index of all objects of a table.
    ///
    /// Reads all values of the column first, sorts them, and packs nodes as full as may be. Memory grows with the number of
    /// objects; `budget` bounds the time.
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

    /// Collects the elements of the lists in a leaf.
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

/// Replacing a value in an index.
extension SearchIndexWriter {
    /// Moves `object` from one value to another; nil when it was not under the old one.
    package func replace(
        _ old: Value, by new: Value, _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        if IndexData(old) == IndexData(new), !isMixed || Value.order(old, new) == 0 { return root }
        guard let rest = try erase(old, object, from: root) else { return nil }
        return try insert(new, object, into: rest)
    }
}
