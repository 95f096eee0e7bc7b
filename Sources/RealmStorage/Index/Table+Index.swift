// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Search for objects by the value of an indexed property.
extension Table {
    /// Returns the object with a primary key, or nil when there is none or the table has no primary key.
    ///
    /// - Throws: `.corrupt` on damage.
    /// - Complexity: O(log n) through the search index; O(n) in a file of format 20 or 21 without
    ///   one.
    package func findByPrimaryKey(_ value: Value) throws(StorageError) -> Row? {
        guard let primaryKey else { return nil }
        guard primaryKey.hasSearchIndex else { return try visible(try scan(primaryKey, for: value)) }
        if case .int(let number) = value, let row = try guessed(number, primaryKey) { return try visible(row) }
        switch try SearchIndex(root: primaryKey.searchIndex, space: space).filed(under: value) {
        case .one(let key):
            guard let row = try find(key, primaryKey, value) else { return nil }
            if case .int(let number) = value { guess.note(key, hasPrimaryKey: number) }
            return try visible(row)
        case .list(let tree):
            for key in try tree.objectKeys() {
                if let row = try find(key, primaryKey, value) { return try visible(row) }
            }
            return nil
        case .subindex, nil: return nil
        }
    }

    /// Returns the object with an integer primary key if it is where it is guessed to be; nil otherwise.
    private func guessed(_ number: Int64, _ primaryKey: Column) throws(StorageError) -> Row? {
        guard let key = guess.objectKey(of: number), let row = try objects.find(key) else { return nil }
        if try row.holds(.int(number), in: primaryKey) { return row }
        guess.wasWrong()
        return nil
    }

    /// Returns the object with `key` if its value is `value`, else nil, whether or not it is visible.
    private func find(_ key: ObjectKey, _ column: Column, _ value: Value) throws(StorageError) -> Row? {
        guard key.rawValue >= 0, let row = try objects.find(key), try row.holds(value, in: column) else { return nil }
        return row
    }

    /// Returns the objects whose single-valued, indexed property has exactly `value`, of the same
    /// type and content. They are counted at once, and their keys are read when they are needed.
    ///
    /// - Parameters:
    ///   - column: A column with a general search index.
    ///   - value: The value that is searched.
    /// - Throws: `.corrupt` on damage.
    /// - Complexity: O(log n) for most columns; for Mixed and long texts the objects are compared
    ///   one by one.
    package func indexedKeys(_ column: Column, equalTo value: Value) throws(StorageError) -> IndexedKeys {
        switch try SearchIndex(root: column.searchIndex, space: space).filed(under: value) {
        case .one(let key): return IndexedKeys(try find(key, column, value) == nil ? [] : [key])
        case .list(let tree):
            guard Table.listsMayDiffer(column, value) else {
                let keys = IndexedKeys(tree)
                guard let first = try keys.piece(from: 0, atMost: 1).first, try find(first, column, value) != nil else {
                    return IndexedKeys([])
                }
                return keys
            }
            var matching: [ObjectKey] = []
            for key in try tree.objectKeys() where try find(key, column, value) != nil { matching.append(key) }
            return IndexedKeys(matching)
        case .subindex, nil: return IndexedKeys([])
        }
    }

    /// Returns whether the objects of one list may have different values: only those of Mixed and
    /// of the last level may, so that elsewhere one of them is enough to compare.
    private static func listsMayDiffer(_ column: Column, _ value: Value) -> Bool {
        column.type == .mixed || IndexData(value).count >= IndexData.maximumOffset
    }

    /// Searches all objects one by one, for old files without an index.
    private func scan(_ column: Column, for value: Value) throws(StorageError) -> Row? {
        var cursor = leaves()
        while let leaf = try cursor.next() {
            let values = try leaf.attach(column)
            for index in 0..<leaf.count where try values.value(index).isIdentical(to: value) {
                return Row(leaf: leaf, index: index)
            }
        }
        return nil
    }
}

/// Equality in the sense of indexes: type and content, without conversions.
extension Value {
    /// Returns whether both values have the same type and the same content. All lists are alike
    /// here, and so are all dictionaries.
    package func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.int(let left), .int(let right)): return left == right
        case (.bool(let left), .bool(let right)): return left == right
        case (.float(let left), .float(let right)): return left.bitPattern == right.bitPattern
        case (.double(let left), .double(let right)): return left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)), (.binary(let left), .binary(let right)): return left == right
        case (.timestamp(let left), .timestamp(let right)): return left == right
        case (.decimal(let left), .decimal(let right)): return left == right
        case (.objectID(let left), .objectID(let right)): return left == right
        case (.uuid(let left), .uuid(let right)): return left == right
        case (.link(let leftTable, let left), .link(let rightTable, let right)):
            return leftTable == rightTable && left == right
        case (.list, .list), (.dictionary, .dictionary): return true
        default: return false
        }
    }
}
