// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Finds where an embedded object is: the object that owns it, and the property there.
struct OwnerLookup {
    /// The version that is searched.
    let snapshot: Snapshot
    /// The work that the search may cost: a place in a collection is found by going through it.
    let budget: WorkBudget

    /// The object that holds an embedded one.
    struct Owner {
        /// The class of the owner, which may be embedded itself.
        let table: Table
        /// The object that owns the embedded one.
        let row: Row
        /// The property, with index or key in a collection: `address`, `kids[0]` or
        /// `rooms.kitchen`.
        let property: String
    }

    /// Finds the owner of an embedded object by its backlinks.
    ///
    /// - Parameters:
    ///   - row: The embedded object.
    ///   - table: Its class.
    /// - Returns: The owner; nil for an object that has none, as in a damaged file.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    /// - Complexity: O(n) in the length of the collection that holds the object.
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

    /// Returns the property of an owner that holds an embedded object, with index or key.
    ///
    /// - Parameters:
    ///   - key: The key of the embedded object.
    ///   - column: The property that links to its class.
    ///   - owner: The owner.
    /// - Returns: The place; nil when the property does not hold the object.
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
