// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes of links when the object that they point to is deleted, or is created under the primary key that they wait for.
extension WriteTransaction {
    /// The change that is made to a link.
    enum LinkEdit {
        /// The link becomes null in a property or a dictionary; an element of a list or set is removed.
        case remove
        /// The link points to this object of the same table instead.
        case redirect(ObjectKey)
    }

    /// Removes every link to an object. The object's own backlinks are removed with its row.
    ///
    /// - Throws: `.corrupt` for damage, `.stopped` when the work budget is used up.
    func nullifyIncoming(of object: StoredLink) throws(StorageError) {
        try editIncoming(of: object, .remove)
    }

    /// Gives a new object the links that were kept for its primary key, and removes their tombstone.
    func resurrect(_ object: ObjectKey, _ primaryKey: Value, in key: TableKey) throws(StorageError) {
        guard let ghost = try tombstone(primaryKey, in: key) else { return }
        let link = StoredLink(table: key, object: ghost)
        for (origin, column, originTable) in try incoming(of: link) {
            try spend()
            guard try editLink(to: link, from: origin, column, in: originTable, .redirect(object)) else { continue }
            try addBacklink(to: StoredLink(table: key, object: object), from: origin, column, in: originTable)
        }
        try eraseTombstone(ghost, in: key)
    }

    /// Changes all links to an object: those of every backlink that it has.
    private func editIncoming(of object: StoredLink, _ edit: LinkEdit) throws(StorageError) {
        var stale: Set<Record> = []
        for (origin, column, table) in try incoming(of: object) {
            try spend()
            // If one backlink of an origin has no link, the others have none either; damaged files may
            // have millions.
            let record = Record(table: table, column: column.leafIndex, origin: origin)
            guard !stale.contains(record) else { continue }
            if try !editLink(to: object, from: origin, column, in: table, edit) { stale.insert(record) }
        }
    }

    /// An origin of a link: a property of an object that a backlink names.
    private struct Record: Hashable {
        /// The table of the object whose property holds the link.
        let table: TableKey
        /// The leaf index of the property that holds it.
        let column: Int
        /// The object whose property holds the link.
        let origin: ObjectKey
    }

    /// Returns an entry for every backlink of an object. Backlinks whose origin does not exist are left out.
    private func incoming(
        of object: StoredLink
    ) throws(StorageError) -> [(origin: ObjectKey, column: Column, table: TableKey)] {
        let row = try existingRow(object.object, in: object.table)
        var links: [(ObjectKey, Column, TableKey)] = []
        for hidden in try table(object.table).backlinks {
            guard let originTable = hidden.targetTable, let originColumn = hidden.oppositeColumn,
                try hasTable(originTable), let column = try table(originTable).column(originColumn)
            else { continue }
            for key in try row.leaf.backlinks(hidden, row: row.index).keys() {
                try spend()
                guard try self.row(key, in: originTable) != nil else { continue }
                links.append((key, column, originTable))
            }
        }
        return links
    }

    /// Returns the tombstone that is kept for a primary key, or nil. All tombstones of the table
    /// are read, as they have no index.
    private func tombstone(_ primaryKey: Value, in key: TableKey) throws(StorageError) -> ObjectKey? {
        let state = try table(key)
        guard let column = state.primaryKey, !state.tombstones.isNone else { return nil }
        var leaves = ClusterTree(root: state.tombstones, space: writes.space, shift: clusterShift).leaves()
        while let leaf = try leaves.next() {
            try spend(leaf.count)
            let values = try leaf.attach(column)
            for row in 0..<leaf.count where try values.value(row).isIdentical(to: primaryKey) { return leaf.key(at: row) }
        }
        return nil
    }

    /// Changes the first link to `target` in a property.
    ///
    /// - Returns: Whether there was one; backlinks of damaged files may have none.
    private func editLink(
        to target: StoredLink, from origin: ObjectKey, _ column: Column, in key: TableKey, _ edit: LinkEdit
    ) throws(StorageError) -> Bool {
        guard column.collection == nil else {
            let place = CollectionPlace(key, origin, column)
            let (root, form) = try collection(at: place)
            guard let new = try editFirst(target, in: root, form, edit, logged: place) else { return false }
            try setCollectionRoot(new, column, of: origin, in: key)
            changes.append(.modified(key, origin, column.key))
            return true
        }
        let row = try existingRow(origin, in: key)
        let leaf = try row.leaf.attach(column)
        if try storedLink(leaf, row.index) == target {
            try setUnrecorded(edit.value(in: target.table), column, of: origin, in: key)
            changes.append(.modified(key, origin, column.key))
            return true
        }
        return try editNestedLink(to: target, in: leaf.value(row.index), from: origin, column, in: key, edit)
    }

    /// Changes the first link to `target` in the collections nested in a Mixed value; returns whether there was one.
    private func editNestedLink(
        to target: StoredLink, in value: Value, from origin: ObjectKey, _ column: Column, in key: TableKey,
        _ edit: LinkEdit
    ) throws(StorageError) -> Bool {
        let new: Ref?
        switch value {
        case .list(let root): new = try editFirst(target, in: root, .list(.mixed), edit, logged: nil)
        case .dictionary(let root): new = try editFirst(target, in: root, .dictionary, edit, logged: nil)
        default: return false
        }
        guard let new else { return false }
        let writer = LeafWriter(writes, .values(.mixed), inCluster: true)
        try updateLeaf(column, of: origin, in: key) { leaf, row throws(StorageError) in
            try writer.setNestedRoot(new, at: row, in: leaf)
        }
        changes.append(.modified(key, origin, column.key))
        return true
    }

    /// Changes the first link to `target` in a collection or below it. Elements of the collection
    /// itself come before those of nested ones.
    ///
    /// - Parameters:
    ///   - target: The object that the link points to.
    ///   - form: Its kind and the type of its elements.
    ///   - edit: The change.
    ///   - place: The collection, if observers are notified of its elements; nil for a nested one.
    ///   - budget: The nodes that may be visited; nil at the outermost collection.
    /// - Returns: The new root of the collection; nil when it has no such link.
    private func editFirst(
        _ target: StoredLink, in root: Ref, _ form: CollectionForm, _ edit: LinkEdit, logged place: CollectionPlace?,
        within budget: WalkBudget? = nil
    ) throws(StorageError) -> Ref? {
        guard !root.isNone else { return nil }
        let budget = budget ?? WalkBudget(writes.space)
        try budget.enter(root)
        defer { budget.leave() }
        var inner: [(position: Int, root: Ref, form: CollectionForm)] = []
        var leaves = try elementTree(root, form).leaves(within: budget)
        while let (leaf, start) = try leaves.next() {
            try spend(leaf.count)
            for row in 0..<leaf.count {
                if try storedLink(leaf, row) == target {
                    return try editElement(at: start + row, of: target, in: root, form, edit, logged: place)
                }
                guard case .mixed(let values) = leaf else { continue }
                switch try values.value(row) {
                case .list(let child): inner.append((start + row, child, .list(.mixed)))
                case .dictionary(let child): inner.append((start + row, child, .dictionary))
                default: break
                }
            }
        }
        for (position, child, childForm) in inner {
            guard let new = try editFirst(target, in: child, childForm, edit, logged: nil, within: budget) else { continue }
            log(.set(position), at: place)
            return try setNestedRoot(new, at: position, in: root, form)
        }
        return nil
    }

    /// Changes a link that is an element of a collection, and returns the collection's new root.
    private func editElement(
        at position: Int, of target: StoredLink, in root: Ref, _ form: CollectionForm, _ edit: LinkEdit,
        logged place: CollectionPlace?
    ) throws(StorageError) -> Ref {
        let writer = BPlusTreeWriter(writes, form.elements)
        switch (form, edit) {
        case (.dictionary, _):
            log(.set(position), at: place)
            let values = LeafWriter(writes, .values(.mixed), inCluster: false)
            return try updateElement(at: position, in: root, form) { leaf, row throws(StorageError) in
                try values.set(edit.value(in: target.table), at: row, in: leaf)
            }
        case (.list, .redirect):
            log(.set(position), at: place)
            return try writer.set(edit.value(in: target.table), at: position, in: root)
        case (.list, .remove), (.set, .remove):
            log(.erase(position), at: place)
            return try writer.erase(at: position, in: root)
        case (.set(let shape), .redirect):
            let rest = try writer.erase(at: position, in: root)
            let added = try SetWriter(writes, shape).insert(edit.value(in: target.table), in: rest)
            log(.erase(position), at: place)
            log(.insert(added.index), at: place)
            return added.root
        }
    }

    /// Adds a change of a collection to the list of changes for observers, if it is that of a
    /// property; nested collections are reported by their owners.
    func log(_ change: CollectionChange, at place: CollectionPlace?) {
        guard let place, place.path.isEmpty, place.column.collection != nil else { return }
        changes.append(.collection(place.table, place.object, place.column.key, change))
    }
}

/// The values that changed links get.
extension WriteTransaction.LinkEdit {
    /// Returns the value that takes the place of a link: null, or a link to another object of `table`.
    func value(in table: TableKey) -> Value {
        switch self {
        case .remove: return .null
        case .redirect(let object): return .link(table, object)
        }
    }
}
