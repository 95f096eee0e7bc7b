// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the changes between two versions of a file that another program writes.
///
/// Commits of this process list their changes; for those of others only the results are known. Both
/// versions are read leaf by leaf in the order of keys. A leaf, or a column of one, whose nodes are equal
/// is left out, so the values of changed leaves only are compared.
struct VersionDifference {
    /// The earlier version.
    private let old: Snapshot
    /// The later version.
    private let new: Snapshot
    /// Whether the same ref in both versions is the same subtree; see `SubtreeComparison`.
    private let sharesNodes: Bool
    /// The changes so far, in the form in which a writer lists them.
    private var changes: [ObjectChange] = []

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - old: The earlier version.
    ///   - new: The later version.
    ///   - sharesNodes: Whether one commit lies between them, in the same file.
    /// - Returns: The changes, in the form in which a writer lists them.
    /// - Throws: `StorageError` when one of the versions cannot be read.
    /// - Complexity: Linear in the number of leaves, and in the number of values of leaves that differ.
    static func changes(from old: Snapshot, to new: Snapshot, sharesNodes: Bool) throws(StorageError) -> [ObjectChange] {
        var difference = VersionDifference(old: old, new: new, sharesNodes: sharesNodes)
        try difference.compareTables()
        return difference.changes
    }

    /// Prepares a comparison.
    private init(old: Snapshot, new: Snapshot, sharesNodes: Bool) {
        self.old = old
        self.new = new
        self.sharesNodes = sharesNodes
    }

    // MARK: - Tables

    /// Compares the tables of both versions by their keys.
    private mutating func compareTables() throws(StorageError) {
        for table in old.classes {
            let other = new.table(table.key)
            if let other, other.name == table.name, other.kind == table.kind { continue }
            changes.append(.schema(table.key))
        }
        for table in new.classes {
            guard let before = old.table(table.key), before.name == table.name, before.kind == table.kind else {
                changes.append(.schema(table.key))
                try addAll(of: table)
                continue
            }
            if !VersionDifference.areAlike(before, table) { changes.append(.schema(table.key)) }
            if sharesNodes, before.objects.root == table.objects.root { continue }
            try compareObjects(before, table)
        }
    }

    /// Returns whether two states of a table have the same name and kind, and the same columns with the same properties.
    static func areAlike(_ old: Table, _ new: Table) -> Bool {
        old.name == new.name && old.kind == new.kind && old.columns.count == new.columns.count
            && old.primaryKey?.leafIndex == new.primaryKey?.leafIndex
            && zip(old.columns, new.columns).allSatisfy { left, right in
                left.key == right.key && left.name == right.name && left.attributes == right.attributes
                    && left.type == right.type && left.targetTable == right.targetTable
            }
    }

    /// Adds the objects of a table that did not exist before.
    private mutating func addAll(of table: Table) throws(StorageError) {
        var cursor = table.leaves()
        while let leaf = try cursor.next() { add(leaf, from: 0) { .created(table.key, $0) } }
    }

    // MARK: - Objects

    /// A column in both versions.
    private struct ColumnPair {
        /// The column in the earlier version.
        let old: Column
        /// The column in the later version.
        let new: Column
    }

    /// A place in the walk over the leaves of a table.
    private struct Walk {
        /// The cursor behind the present leaf.
        private var cursor: ClusterCursor
        /// The present leaf; nil at the end.
        private(set) var leaf: ClusterLeaf?
        /// The row of the next object in the leaf.
        private(set) var row = 0

        /// Begins at the first object of a table.
        init(_ table: Table) throws(StorageError) {
            cursor = table.leaves()
            try moveOn()
        }

        /// The key of the next object; nil at the end.
        var key: ObjectKey? { leaf.map { $0.key(at: row) } }

        /// Leaves the next object behind.
        mutating func skip() throws(StorageError) {
            row += 1
            if let leaf, row >= leaf.count { try moveOn() }
        }

        /// Continues with the next leaf that has objects.
        mutating func moveOn() throws(StorageError) {
            row = 0
            repeat { leaf = try cursor.next() } while leaf?.count == 0
        }
    }

    /// Compares the objects of a table that both versions have.
    private mutating func compareObjects(_ before: Table, _ after: Table) throws(StorageError) {
        let pairs = before.columns.compactMap { column in
            after.column(column.key).flatMap { other in
                other.key == column.key && other.type == column.type && other.collection == column.collection
                    ? ColumnPair(old: column, new: other) : nil
            }
        }
        var left = try Walk(before)
        var right = try Walk(after)
        while let oldLeaf = left.leaf, let newLeaf = right.leaf {
            if left.row == 0, right.row == 0, VersionDifference.haveSameKeys(oldLeaf, newLeaf) {
                try compare(oldLeaf, newLeaf, pairs, of: after.key)
                try left.moveOn()
                try right.moveOn()
                continue
            }
            try compareNext(&left, &right, pairs, of: after.key)
        }
        while let key = left.key {
            changes.append(.deleted(after.key, key))
            try left.skip()
        }
        while let key = right.key {
            changes.append(.created(after.key, key))
            try right.skip()
        }
    }

    /// Compares the next objects of two walks whose leaves have different keys.
    private mutating func compareNext(
        _ left: inout Walk, _ right: inout Walk, _ pairs: [ColumnPair], of table: TableKey
    ) throws(StorageError) {
        guard let oldKey = left.key, let newKey = right.key, let oldLeaf = left.leaf, let newLeaf = right.leaf else { return }
        if UInt64(bitPattern: oldKey.rawValue) < UInt64(bitPattern: newKey.rawValue) {
            changes.append(.deleted(table, oldKey))
            try left.skip()
        } else if oldKey != newKey {
            changes.append(.created(table, newKey))
            try right.skip()
        } else {
            let rows = (old: Row(leaf: oldLeaf, index: left.row), new: Row(leaf: newLeaf, index: right.row))
            for pair in pairs { try compare(rows.old, rows.new, pair, of: table) }
            try left.skip()
            try right.skip()
        }
    }

    private mutating func add(_ leaf: ClusterLeaf, from row: Int, _ change: (ObjectKey) -> ObjectChange) {
        for index in row..<leaf.count { changes.append(change(leaf.key(at: index))) }
    }

    /// Returns whether two leaves have the same objects.
    private static func haveSameKeys(_ left: ClusterLeaf, _ right: ClusterLeaf) -> Bool {
        left.count == right.count && (0..<left.count).allSatisfy { left.key(at: $0) == right.key(at: $0) }
    }

    /// Compares two leaves with the same objects, column by column.
    private mutating func compare(
        _ left: ClusterLeaf, _ right: ClusterLeaf, _ pairs: [ColumnPair], of table: TableKey
    ) throws(StorageError) {
        if sharesNodes, left.node.ref == right.node.ref { return }
        let comparison = SubtreeComparison(from: left.space, to: right.space, sharesNodes: sharesNodes)
        for pair in pairs {
            // The numbers of enumerated strings say nothing without the strings.
            let isEnumerated = pair.old.enumeration != nil || pair.new.enumeration != nil
            if !isEnumerated, try comparison.areEqual(try left.ref(of: pair.old), try right.ref(of: pair.new)) { continue }
            for row in 0..<left.count {
                try compare(Row(leaf: left, index: row), Row(leaf: right, index: row), pair, of: table)
            }
        }
    }

    // MARK: - Values

    private mutating func compare(_ left: Row, _ right: Row, _ pair: ColumnPair, of table: TableKey) throws(StorageError) {
        if pair.new.collection != nil {
            let edits = try edits(left, right, pair)
            guard !edits.isEmpty else { return }
            changes.append(.modified(table, right.key, pair.new.key))
            for edit in edits { changes.append(.collection(table, right.key, pair.new.key, edit)) }
        } else if try !isEqual(try left.value(pair.old), try right.value(pair.new), in: left.leaf.space, and: right.leaf.space) {
            changes.append(.modified(table, right.key, pair.new.key))
        }
    }

    /// Returns whether two values are the same; nested collections with all that is in them.
    private func isEqual(_ left: Value, _ right: Value, in before: NodeSpace, and after: NodeSpace) throws(StorageError) -> Bool {
        var counts = (old: 0, new: 0)
        guard ElementIdentity(left, nested: &counts.old) == ElementIdentity(right, nested: &counts.new) else { return false }
        switch (left, right) {
        case (.list(let old), .list(let new)), (.dictionary(let old), .dictionary(let new)):
            return try SubtreeComparison(from: before, to: after, sharesNodes: sharesNodes).areEqual(old, new)
        default: return true
        }
    }

    /// Returns the operations that turn the collection of a property into its later state.
    private func edits(_ left: Row, _ right: Row, _ pair: ColumnPair) throws(StorageError) -> [CollectionChange] {
        let roots = (
            old: try left.leaf.collectionRoot(pair.old, row: left.index),
            new: try right.leaf.collectionRoot(pair.new, row: right.index)
        )
        let comparison = SubtreeComparison(from: left.leaf.space, to: right.leaf.space, sharesNodes: sharesNodes)
        if try comparison.areEqual(roots.old, roots.new) { return [] }
        let before = try Elements(left, pair.old, old)
        let after = try Elements(right, pair.new, new)
        var result: [CollectionChange]
        let kept: [(old: Int, new: Int)]
        if pair.new.collection == .dictionary {
            let edits = ElementEdits(from: before.keys, to: after.keys)
            (result, kept) = (edits.changes, edits.kept)
        } else {
            let edits = ElementEdits(from: before.identities, to: after.identities)
            (result, kept) = (edits.changes, edits.kept)
        }
        for match in kept
        where try !isEqual(before.values[match.old], after.values[match.new], in: left.leaf.space, and: right.leaf.space) {
            result.append(.set(match.new))
        }
        return result
    }

    /// The stored elements of one collection.
    private struct Elements {
        /// The values in their order.
        private(set) var values: [Value] = []
        private(set) var identities: [ElementIdentity] = []
        /// The keys of a dictionary.
        private(set) var keys: [ElementIdentity] = []

        /// Reads the collection of a property, with links to deleted objects.
        init(_ row: Row, _ column: Column, _ snapshot: Snapshot) throws(StorageError) {
            var nested = 0
            var nothing = 0
            if column.collection == .dictionary {
                var cursor = try row.dictionary(column, in: snapshot).entries()
                while let entry = try cursor.next() {
                    values.append(entry.value)
                    switch entry.key {
                    case .text(let bytes): keys.append(.string(bytes))
                    case .integer(let number): keys.append(ElementIdentity(.int(number), nested: &nothing))
                    }
                }
                return
            }
            let root = try row.leaf.collectionRoot(column, row: row.index)
            var cursor = try ListView(root: root, space: row.leaf.space, shape: column.elementShape).elements()
            while let value = try cursor.next() {
                values.append(value)
                identities.append(ElementIdentity(value, nested: &nested))
            }
        }
    }
}
