// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Finds where an embedded object stands: the object that owns it, and the path in there.
struct OwnerLookup {
    /// The version that is searched.
    let snapshot: Snapshot
    /// A place in a long collection is found by going through it.
    let budget: WorkBudget

    /// The object that holds an embedded one, and the property it does so by.
    struct Owner {
        let table: Table
        let row: Row
        /// For example `address`, `kids[0]` or `rooms.kitchen`.
        let property: String
    }

    /// The owner of `row`, or nil for an object that lost it.
    func owner(of row: Row, in table: Table) throws(StorageError) -> Owner? {
        for backlinks in table.backlinks {
            guard let key = try row.leaf.backlinks(backlinks, row: row.index).keys().first,
                let origin = backlinks.targetTable.flatMap({ snapshot.table($0) }),
                let column = backlinks.oppositeColumn.flatMap({ origin.column($0) }),
                let owner = try origin.find(key),
                let property = try place(of: row.key, in: column, of: owner)
            else { continue }
            return Owner(table: origin, row: owner, property: property)
        }
        return nil
    }

    private func place(of key: ObjectKey, in column: Column, of owner: Row) throws(StorageError) -> String? {
        switch column.collection {
        case nil: return column.name
        case .list, .set:
            var elements = try owner.list(column, in: snapshot).elements()
            var index = 0
            while let element = try elements.next() {
                try budget.spend()
                if case .link(_, key) = element { return "\(column.name)[\(index)]" }
                index += 1
            }
        case .dictionary:
            var entries = try owner.dictionary(column, in: snapshot).entries()
            while let entry = try entries.next() {
                try budget.spend()
                if case .link(_, key) = entry.value { return "\(column.name).\(entry.key.bytes.string)" }
            }
        }
        return nil
    }
}
