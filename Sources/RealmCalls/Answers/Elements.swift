// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The elements of something that can be paged through: a list, a set, a dictionary, or the objects that link to an object.
///
/// It reads from a snapshot on demand and copies nothing, except the keys of linking objects.
package struct Elements {
    /// The structure that the elements are read from.
    private enum Form {
        /// A list or a set, whose elements have positions only.
        case list(ListView)
        /// A dictionary, whose elements are entries with keys.
        case dictionary(DictionaryView)
        /// Linking objects of one class, by their object keys.
        case keys(TableKey, [ObjectKey])
    }

    /// One element of the collection: its value, and its key in a dictionary.
    struct Element {
        /// The key of a dictionary entry; nil in other collections.
        let entry: DictionaryKey?
        /// The value of the element; for an object a link to it.
        let value: Value
    }

    /// The kind of elements in a query: objects with properties, or plain values.
    package enum Subject {
        /// Objects of a class, whose properties the query names.
        case objects(Table)
        /// Values of a column of the owner; in the query `self` is the value.
        case values(Column, Table, owner: Row)
    }

    /// The structure that the elements are read from.
    private let form: Form
    /// The number of elements in the collection.
    let count: Int
    package let subject: Subject

    /// Whether the elements are entries of a dictionary, and so have keys.
    var hasEntries: Bool {
        if case .dictionary = form { return true }
        return false
    }

    /// Reads a collection property of an object.
    ///
    /// - Parameters:
    ///   - column: The property, which has to be a collection.
    ///   - snapshot: The version that is read.
    /// - Throws: An error of storage when the file is damaged.
    init(_ column: Column, of row: Row, in table: Table, _ snapshot: Snapshot) throws(StorageError) {
        if column.type == .link, let target = column.targetTable.flatMap({ snapshot.table($0) }) {
            subject = .objects(target)
        } else {
            subject = .values(column, table, owner: row)
        }
        if column.collection == .dictionary {
            let dictionary = try row.dictionary(column, in: snapshot)
            form = .dictionary(dictionary)
            count = dictionary.count
        } else {
            let list = try row.list(column, in: snapshot)
            form = .list(list)
            count = list.count
        }
    }

    /// Finds the objects of a class that link to an object through one property. An object that
    /// links several times appears once for each link.
    ///
    /// - Parameters:
    ///   - row: The object that the links lead to.
    ///   - backlinks: The column of `row`'s class that stores these links backwards.
    init(linkingTo row: Row, from origin: Table, backlinks: Column) throws(StorageError) {
        subject = .objects(origin)
        let keys = try row.leaf.backlinks(backlinks, row: row.index).keys().filter { $0.rawValue >= 0 }
        form = .keys(origin.key, keys)
        count = keys.count
    }

    /// Returns the values of all elements, in their order.
    ///
    /// - Parameter budget: The work that may be done; each element costs one unit.
    /// - Complexity: O(n) in the number of elements.
    func allValues(_ budget: WorkBudget) throws(StorageError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        switch form {
        case .list(let list):
            var cursor = list.elements()
            while let value = try cursor.next() {
                try budget.spend()
                values.append(value)
            }
        case .dictionary(let dictionary):
            var entries = dictionary.entries()
            while let entry = try entries.next() {
                try budget.spend()
                values.append(entry.value)
            }
        case .keys(let table, let keys): values = keys.map { .link(table, $0) }
        }
        return values
    }

    /// Returns one element.
    ///
    /// - Parameter index: The position of the element, from 0. It must be below `count`.
    /// - Throws: An error of storage when the file is damaged.
    func element(at index: Int) throws(StorageError) -> Element {
        switch form {
        case .list(let list): return Element(entry: nil, value: try list.value(at: index))
        case .dictionary(let dictionary):
            return Element(entry: try dictionary.key(at: index), value: try dictionary.value(at: index))
        case .keys(let table, let keys): return Element(entry: nil, value: .link(table, keys[index]))
        }
    }
}
