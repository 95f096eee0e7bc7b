// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Search for the links that objects and collections hold, as they are stored: those to tombstones are included.
extension WriteTransaction {
    /// Returns all links in one property of an object, nested collections included; a target that
    /// is linked twice is in the result twice.
    ///
    /// - Parameters:
    ///   - object: The object, which must exist.
    /// - Throws: `.corrupt` for damage, `.stopped` when the work budget is used up.
    func storedLinks(
        of column: Column, _ object: ObjectKey, in key: TableKey
    ) throws(StorageError) -> [StoredLink] {
        var links: [StoredLink] = []
        if let form = CollectionForm(column) {
            guard column.type == .link || column.type == .mixed else { return [] }
            try collect(collectionRoot(column, of: object, in: key), form, &links)
            return links
        }
        let row = try existingRow(object, in: key)
        try collect(row.leaf.attach(column), row: row.index, &links)
        return links
    }

    /// Returns the links in one element of a collection, and in collections nested in it.
    ///
    /// - Parameters:
    ///   - position: The element, or the value of a dictionary's entry.
    ///   - form: Its kind and the type of its elements.
    func storedLinks(
        at position: Int, in root: Ref, _ form: CollectionForm
    ) throws(StorageError) -> [StoredLink] {
        var links: [StoredLink] = []
        let place = try elementTree(root, form).place(of: position)
        try collect(place.leaf, row: place.row, &links)
        return links
    }

    /// Returns the links in a collection, and in collections nested in it.
    ///
    /// - Parameters:
    ///   - form: Its kind and the type of its elements.
    func storedLinks(in root: Ref, _ form: CollectionForm) throws(StorageError) -> [StoredLink] {
        var links: [StoredLink] = []
        try collect(root, form, &links)
        return links
    }

    /// Adds the links in a collection and below it to `links`.
    ///
    /// Nested collections wait in a list rather than on the stack, so their depth is not limited;
    /// the last one that was found is read first.
    private func collect(_ root: Ref, _ form: CollectionForm, _ links: inout [StoredLink]) throws(StorageError) {
        var pending = [(root, form)]
        let budget = WalkBudget(writes.space)
        while let (root, form) = pending.popLast() {
            var leaves = try elementTree(root, form).leaves(within: budget)
            while let (leaf, _) = try leaves.next() {
                try spend(leaf.count)
                for row in 0..<leaf.count {
                    if let link = try storedLink(leaf, row) { links.append(link) }
                    guard let inner = try nestedCollection(leaf, row), !inner.0.isNone else { continue }
                    // Counted here, too, so that many refs to one collection do not fill the memory.
                    try budget.spend(at: inner.0)
                    pending.append(inner)
                }
            }
        }
    }

    /// Adds the links in a value to `links`, and those in collections nested in it.
    private func collect(_ leaf: ColumnLeaf, row: Int, _ links: inout [StoredLink]) throws(StorageError) {
        if let link = try storedLink(leaf, row) { links.append(link) }
        if let (root, form) = try nestedCollection(leaf, row) { try collect(root, form, &links) }
    }

    /// Returns the link in `row` as it is stored, unresolved ones included; nil when the value is not a link.
    func storedLink(_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> StoredLink? {
        switch leaf {
        case .link(let links):
            let key = links.key(row)
            return key.isNull ? nil : StoredLink(table: links.targetTable, object: key)
        case .mixed(let values):
            return try values.storedLink(row).map { StoredLink(table: $0.table, object: $0.key) }
        default: return nil
        }
    }

    /// Returns the root and form of the collection nested in a value; nil when the value is of another type.
    private func nestedCollection(_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> (Ref, CollectionForm)? {
        guard case .mixed(let values) = leaf else { return nil }
        switch try values.value(row) {
        case .list(let root): return (root, .list(.mixed))
        case .dictionary(let root): return (root, .dictionary)
        default: return nil
        }
    }
}
