// SPDX-License-Identifier: Apache-2.0

/// Finds links as they are stored, those to tombstones included.
extension WriteTransaction {
    /// All links in one property of an object, one for each time it is linked.
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

    /// The links in one element and below it.
    func storedLinks(
        at position: Int, in root: Ref, _ form: CollectionForm
    ) throws(StorageError) -> [StoredLink] {
        var links: [StoredLink] = []
        let place = try elementTree(root, form).place(of: position)
        try collect(place.leaf, row: place.row, &links)
        return links
    }

    /// The links in a collection and below it.
    func storedLinks(in root: Ref, _ form: CollectionForm) throws(StorageError) -> [StoredLink] {
        var links: [StoredLink] = []
        try collect(root, form, &links)
        return links
    }

    /// Collections first met last: what is nested waits in a list, however deep it goes.
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

    /// Adds the links in a value, and those in collections nested in it.
    private func collect(_ leaf: ColumnLeaf, row: Int, _ links: inout [StoredLink]) throws(StorageError) {
        if let link = try storedLink(leaf, row) { links.append(link) }
        if let (root, form) = try nestedCollection(leaf, row) { try collect(root, form, &links) }
    }

    /// The link in `row` as it is stored, unresolved ones included; nil when the value is no link.
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

    /// The collection nested in a value; nil when it holds none.
    private func nestedCollection(_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> (Ref, CollectionForm)? {
        guard case .mixed(let values) = leaf else { return nil }
        switch try values.value(row) {
        case .list(let root): return (root, .list(.mixed))
        case .dictionary(let root): return (root, .dictionary)
        default: return nil
        }
    }
}
