// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The elements of a collection that can be paged through: list, set, dictionary, linking objects.
struct Elements {
    private enum Form {
        case list(ListView)
        case dictionary(DictionaryView)
        case keys(TableKey, [ObjectKey])
    }

    struct Element {
        /// The key of a dictionary entry.
        let entry: DictionaryKey?
        let value: Value
    }

    private let form: Form
    let count: Int

    /// The elements of a collection property.
    init(_ column: Column, of row: Row, in snapshot: Snapshot) throws(StorageError) {
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
        let keys = try row.leaf.backlinks(backlinks, row: row.index).keys().filter { $0.rawValue >= 0 }
        form = .keys(origin.key, keys)
        count = keys.count
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
