// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Converts what formats 10 to 23 store in another form to format 24, in one commit: until it is
/// made, the file does not change.
///
/// | found in | what | becomes |
/// |---|---|---|
/// | 10–23 | lists of links of type 13 | type 12, in columns and their opposites |
/// | 10–23 | sets of strings, data and Mixed in another order | ascending |
/// | 10–23 | dictionaries whose keys are in another order | ascending |
/// | 10–23 | backlink lists in one leaf of any length | B+ trees |
/// | 10–23 | search indexes, which order text otherwise; up to 21 some or all primary keys have none, declared ones may be missing | built again |
/// | 21, 22 | dictionaries as cluster trees under hashed keys | two B+ trees |
/// | 22 | objects left in asymmetric classes | deleted |
///
/// Source: docs/format.md, "Versions 10 to 23"; realm-core transaction.cpp.
struct FormatUpgrade {
    /// The transaction of the whole upgrade.
    private let transaction: WriteTransaction
    /// The format that the file has before the upgrade.
    private let format: Int
    /// Gets the progress, and can cancel the upgrade.
    private let control: WorkControl?

    /// The nodes of the transaction, committed and new.
    private var writes: WriteSpace { transaction.writes }

    /// A collection that has to be written in another form.
    private struct Outdated {
        /// The object that holds the collection.
        let object: ObjectKey
        /// The property that holds the collection.
        let column: Column
        /// The root of the collection in its old form.
        let root: Ref
    }

    /// Upgrades the newest version of `store`, whose format is older than the one that is written.
    ///
    /// - Parameters:
    ///   - store: The store, in which no transaction is running.
    ///   - control: Gets the progress; when it cancels the upgrade, an error is thrown and nothing
    ///     has changed.
    static func run(_ store: FileStore, _ control: WorkControl?) throws(StorageError) {
        let format = store.current.fileFormat
        let transaction = try store.beginTransaction()
        do throws(StorageError) {
            try FormatUpgrade(transaction: transaction, format: format, control: control).apply()
            try control?.check()
            _ = try transaction.commit()
        } catch {
            transaction.end()
            throw error
        }
    }

    /// Upgrades all tables in the transaction.
    private func apply() throws(StorageError) {
        let keys = try transaction.tableKeys()
        var total = 0
        for key in keys { total += try transaction.count(in: key) }
        let progress = Progress(control, objects: total)
        for key in keys {
            try control?.check()
            // The columns were converted to present types when they were read; this makes `flush` write
            // them.
            try transaction.update(key) { [writes] state in state.schemaDidChange(writes.space) }
            try upgradeCollections(of: key)
            try rebuildIndexes(of: key)
            progress.add(try transaction.count(in: key))
        }
        // After all collections were upgraded, because deleting follows links through them.
        guard format == 22 else { return }
        for key in keys where try transaction.table(key).kind == .asymmetric { try transaction.deleteAllObjects(in: key) }
    }

    /// Reports how many of all objects are done.
    private final class Progress {
        /// The control that progress is reported to; nil when nothing is reported.
        private let control: WorkControl?
        /// How many objects all tables have.
        private let total: Int
        /// How many objects have been upgraded so far.
        private var done = 0

        /// Makes a report of progress through `total` objects.
        init(_ control: WorkControl?, objects total: Int) {
            self.control = control
            self.total = total
        }

        /// Counts `count` objects as done and reports the share of all objects.
        func add(_ count: Int) {
            done += count
            control?.proceed(to: Double(done) / Double(max(1, total)))
        }
    }

    // MARK: - Indexes

    /// Builds the indexes of a table from its objects: those that it has, and those that are declared and missing.
    private func rebuildIndexes(of key: TableKey) throws(StorageError) {
        let state = try transaction.table(key)
        for column in state.columns {
            let isPrimaryKey = column.leafIndex == state.primaryKeyColumn?.leafIndex
            let root = state.indexRoot(column)
            if column.declaredIndex != nil, column.collection != nil, root.isNone {
                // realm-core declared so what had been the index of a list's elements in format 8 or 9, and made none.
                try transaction.removeIndex(of: column.key, in: key)
                continue
            }
            guard isPrimaryKey || column.declaredIndex != nil || !root.isNone else { continue }
            try control?.check()
            guard IndexForm(of: column) != nil else {
                if !isPrimaryKey, root.isNone { continue }
                throw .corrupt(
                    ref: root, reason: "'\(state.name).\(column.name)' has an index, which a property of its type cannot have")
            }
            try transaction.rebuildIndex(column.key, of: key)
        }
    }

    // MARK: - Collections

    /// Writes the outdated collections of a table in their present form.
    private func upgradeCollections(of key: TableKey) throws(StorageError) {
        for outdated in try outdatedCollections(of: key) {
            try control?.check()
            let root = try upgraded(outdated)
            try writes.discardTree(outdated.root)
            try transaction.setCollectionRoot(root, outdated.column, of: outdated.object, in: key)
        }
    }

    /// Returns the collections of a table that have to be written in another form. All of them are
    /// found before the first is changed, because a tree must not change while it is walked.
    private func outdatedCollections(of key: TableKey) throws(StorageError) -> [Outdated] {
        let state = try transaction.table(key)
        let columns = (state.columns + state.backlinks).filter(FormatUpgrade.mayBeOutdated)
        guard !columns.isEmpty else { return [] }
        var found: [Outdated] = []
        for tree in [state.objects, state.tombstones] {
            var leaves = ClusterTree(root: tree, space: writes.space, shift: transaction.clusterShift).leaves()
            while let leaf = try leaves.next() {
                try control?.check()
                for column in columns { try collect(column, leaf, into: &found) }
            }
        }
        return found
    }

    /// Adds the collections of a column in a leaf that have to be written in another form.
    private func collect(_ column: Column, _ leaf: ClusterLeaf, into found: inout [Outdated]) throws(StorageError) {
        let refs = try leaf.attachRefs(column)
        for row in 0..<leaf.count {
            guard case .ref(let root) = try refs.slot(row), try isOutdated(root, column) else { continue }
            found.append(Outdated(object: leaf.key(at: row), column: column, root: root))
        }
    }

    /// Returns whether older formats store collections of this column in another form.
    private static func mayBeOutdated(_ column: Column) -> Bool {
        if column.type == .backlink { return true }
        switch column.collection {
        case .dictionary: return column.dictionaryKeyType == .string
        case .set: return [.string, .binary, .mixed].contains(column.type)
        case .list, nil: return false
        }
    }

    /// Returns whether one collection has to be written in another form.
    private func isOutdated(_ root: Ref, _ column: Column) throws(StorageError) -> Bool {
        if column.type == .backlink {
            let node = try writes.node(at: root)
            return !node.isInner && node.count > BPlusTreeWriter.standardLeafCapacity
        }
        if column.collection == .set { return try !isAscending(try tree(root, column.elementShape)) }
        if DictionaryView.isHistoric(try writes.node(at: root), fileFormat: format) { return true }
        return try !DictionaryWriter(writes).isSorted(root)
    }

    /// Writes a collection in its present form and returns its root.
    private func upgraded(_ outdated: Outdated) throws(StorageError) -> Ref {
        let column = outdated.column
        if column.type == .backlink {
            let shape = ElementShape(type: .int, isNullable: false)
            return try BPlusTreeWriter(writes, shape).append(contentsOf: try elements(outdated.root, shape), to: .none)
        }
        if column.collection == .set {
            let sorted = try elements(outdated.root, column.elementShape).sorted { Value.order($0, $1) < 0 }
            return try BPlusTreeWriter(writes, column.elementShape).append(contentsOf: sorted, to: .none)
        }
        return try dictionary(outdated.root)
    }

    private func tree(_ root: Ref, _ shape: ElementShape) throws(StorageError) -> BPlusTree {
        try BPlusTree(root: root, space: writes.space, shape: shape)
    }

    /// Returns whether the elements of a set ascend.
    private func isAscending(_ tree: BPlusTree) throws(StorageError) -> Bool {
        var previous: Value?
        var leaves = tree.leaves()
        while let (leaf, _) = try leaves.next() {
            for row in 0..<leaf.count {
                let value = try leaf.storedValue(row)
                if let previous, Value.order(previous, value) > 0 { return false }
                previous = value
            }
        }
        return true
    }

    /// Returns the elements as they are stored. Their bytes stay readable, because the nodes of the
    /// former version are kept until the commit.
    private func elements(_ root: Ref, _ shape: ElementShape) throws(StorageError) -> [Value] {
        var values: [Value] = []
        var leaves = try tree(root, shape).leaves()
        while let (leaf, _) = try leaves.next() {
            for row in 0..<leaf.count { values.append(try leaf.storedValue(row)) }
        }
        return values
    }

    /// Writes a dictionary in its present form and returns its root.
    private func dictionary(_ root: Ref) throws(StorageError) -> Ref {
        let writer = DictionaryWriter(writes)
        var new = try writer.makeEmpty()
        guard DictionaryView.isHistoric(try writes.node(at: root), fileFormat: format) else {
            for entry in try writer.entries(root) { new = try writer.set(entry.keyBytes, entry.value, in: new).root }
            return new
        }
        let entries = try DictionaryView.historicEntries(
            root, writes.space, shift: transaction.clusterShift, areLinksStored: true)
        for entry in entries { new = try writer.set(entry.key.bytes, entry.value, in: new).root }
        return new
    }
}
