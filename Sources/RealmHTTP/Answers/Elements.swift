// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The elements of a collection that can be paged through: list, set, dictionary, linking objects.
struct Elements {
    private enum Form {
        case list(ListView)
        case dictionary(DictionaryView)
        case keys(TableKey, [ObjectKey])
    }

    /// One element with what tells it from the others.
    struct Element {
        /// The key of a dictionary entry.
        let entry: DictionaryKey?
        let value: Value
    }

    /// What a filter over the elements speaks about.
    enum Subject {
        case objects(Table)
        /// Values of a column of the owner, which `self` names.
        case values(Column, Table, owner: Row)
    }

    private let form: Form
    /// How many elements there are.
    let count: Int
    /// What the collection is.
    let subject: Subject

    /// Whether elements are entries of a dictionary.
    var hasEntries: Bool {
        if case .dictionary = form { return true }
        return false
    }

    /// The elements of a collection property.
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

    /// The objects of `origin` that link to `row`, an object for every link.
    init(linkingTo row: Row, from origin: Table, backlinks: Column) throws(StorageError) {
        subject = .objects(origin)
        let keys = try row.leaf.backlinks(backlinks, row: row.index).keys().filter { $0.rawValue >= 0 }
        form = .keys(origin.key, keys)
        count = keys.count
    }

    /// The values of all elements.
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

    /// The element at `index`, which must be in `0..<count`.
    func element(at index: Int) throws(StorageError) -> Element {
        switch form {
        case .list(let list): return Element(entry: nil, value: try list.value(at: index))
        case .dictionary(let dictionary):
            return Element(entry: try dictionary.key(at: index), value: try dictionary.value(at: index))
        case .keys(let table, let keys): return Element(entry: nil, value: .link(table, keys[index]))
        }
    }
}
