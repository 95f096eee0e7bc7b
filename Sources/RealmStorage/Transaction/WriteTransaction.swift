// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A change of a database in progress: the tables of the version it started from, and their present state.
///
/// All changes are made in memory until `commit`. A transaction that is dropped leaves no trace. The thread that writes makes
/// one, uses it and ends it; `FileStore.beginWrite` ensures that there is one at a time.
///
/// `@unchecked Sendable`: it may be passed from thread to thread, but is used by one at a time.
package final class WriteTransaction: @unchecked Sendable {
    /// The right to write, which ends with the transaction.
    private let store: StoreWrite
    /// log2 of the size of cluster leaves: 8 but in tests of deep trees.
    let clusterShift: Int

    /// The state of the table at each position of the list of tables.
    private var slots: [Slot]
    /// The changes of objects and schema so far, in order. Notifications are made from them after the commit.
    package internal(set) var changes: [ObjectChange] = []
    /// The registrations that are not notified of the commit, for its record; see `CommitNotes`.
    package var skips: [String] = []
    /// The requests that the commit carries out; see `CommitNotes`.
    package var requests: [CommittedRequest] = []
    /// The budget that long operations spend from; nil where the work is not limited. The caller
    /// replaces it between operations.
    package var budget: WorkBudget?
    /// The writers of tables by position, made when they are needed.
    var tableWriters: [Int: TableWriters] = [:]
    /// The names of all tables by position; empty for a removed table.
    private var names: [String]
    /// The names of all tables, while tables are made; nil when they may have changed otherwise.
    private var takenNames: Set<ByteText>?
    /// No position before this one is free.
    private var firstFree = 0
    /// Whether the list of names has to be written again.
    private var namesChanged = false

    /// The state of one position in the list of tables.
    fileprivate enum Slot {
        /// A table that has not been read yet.
        case committed(Ref)
        /// A table that was read, with its present state.
        case open(TableState)
        /// A removed table, with the tag that the next table at this position gets.
        case removed(UInt64)
    }

    /// The cost of removing one object or link, in units of a work budget.
    static let unitsPerLink = 16

    /// Counts work whose length depends on data: links to an object, elements of a collection, objects of a table.
    ///
    /// - Throws: `.stopped` when the budget is used up.
    @inline(__always) func spend(_ units: Int = WriteTransaction.unitsPerLink) throws(StorageError) { try budget?.spend(units) }

    /// Begins a transaction; the list of tables is read, tables themselves are read when they are needed.
    ///
    /// - Throws: `.corrupt` when the list of tables is damaged.
    init(_ store: StoreWrite) throws(StorageError) {
        self.store = store
        let base = store.base
        clusterShift = base.clusterShift
        guard !base.top.tables.isNone else {
            names = []
            slots = []
            return
        }
        names = try TableReader.names(try store.nodes.node(at: base.top.names), store.nodes.space)
        let list = try store.nodes.node(at: base.top.tables)
        var slots: [Slot] = []
        for position in 0..<list.count {
            switch try list.slot(position) {
            case .ref(let ref): slots.append(.committed(ref))
            case .tagged(let tag): slots.append(.removed(tag))
            case .none: slots.append(.removed(0))
            }
        }
        self.slots = slots
    }

    /// The version that the transaction started from.
    package var base: Snapshot { store.base }
    /// The nodes of the transaction, committed and new.
    package var writes: WriteSpace { store.nodes }

    // MARK: - Tables

    /// Returns the present state of a table.
    ///
    /// - Throws: `.corrupt` when there is no table with that key.
    package func table(_ key: TableKey) throws(StorageError) -> TableState {
        let state = try open(key.position)
        guard let state, state.key == key else {
            throw .corrupt(ref: .none, reason: "no table has the key \(key.rawValue)")
        }
        return state
    }

    /// Returns the root of the tree that an object is in (objects or tombstones), without a copy of the table's state.
    func root(of object: ObjectKey, in key: TableKey) throws(StorageError) -> Ref {
        guard slots.indices.contains(key.position), case .open(let state) = slots[key.position], state.key == key else {
            let state = try table(key)
            return object.rawValue < 0 ? state.tombstones : state.objects
        }
        return object.rawValue < 0 ? state.tombstones : state.objects
    }

    /// Returns the root of an index, without a copy of the table's state.
    func indexRoot(_ leafIndex: Int, in key: TableKey) throws(StorageError) -> Ref {
        if case .open(let state) = slots[key.position], state.key == key { return state.indexRoot(leafIndex) }
        return try table(key).indexRoot(leafIndex)
    }

    /// Returns whether there is a table with exactly that key.
    package func hasTable(_ key: TableKey) throws(StorageError) -> Bool { try open(key.position)?.key == key }

    /// Returns the present state of a table by its full name; nil when there is none.
    package func table(named name: String) throws(StorageError) -> TableState? {
        guard let position = names.firstIndex(of: name) else { return nil }
        return try open(position)
    }

    /// Returns the keys of all tables in the order of their positions.
    package func tableKeys() throws(StorageError) -> [TableKey] {
        var keys: [TableKey] = []
        for position in slots.indices { if let state = try open(position) { keys.append(state.key) } }
        return keys
    }

    /// How many tables there are; positions of removed ones do not count.
    var presentTableCount: Int {
        slots.count { slot in
            if case .removed = slot { return false }
            return true
        }
    }

    /// Changes the state of a table in place.
    ///
    /// - Parameters:
    ///   - change: Changes the state; it must not access the same table through the transaction.
    /// - Returns: The result of `change`.
    func update<Result>(
        _ key: TableKey, _ change: (inout TableState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var state = try table(key)
        // The state is removed from the list while it changes, so that its arrays are not copied.
        slots[key.position] = .removed(0)
        defer { slots[key.position] = .open(state) }
        return try change(&state)
    }

    /// Returns the state of the table at a position, which is read when it is first needed; nil for none.
    private func open(_ position: Int) throws(StorageError) -> TableState? {
        guard slots.indices.contains(position) else { return nil }
        switch slots[position] {
        case .open(let state): return state
        case .removed: return nil
        case .committed(let ref):
            let state = try TableState(ref: ref, name: names[position], writes.space)
            slots[position] = .open(state)
            return state
        }
    }

    // MARK: - The list of tables

    /// Adds a table without columns at the first free position.
    ///
    /// - Throws: `.limit` when the list of tables is full.
    func insertTable(_ name: String, _ kind: TableKind) throws(StorageError) -> TableKey {
        let place = firstFreePosition()
        guard place.position <= 0xffff else { throw .limit("a file may have at most 65536 tables") }
        let key = TableKey(UInt32(truncatingIfNeeded: place.tag << 16) | UInt32(place.position))
        let state = try TableState(new: key, name: name, kind: kind, writes)
        if place.position == slots.count {
            slots.append(.open(state))
            names.append(name)
        } else {
            slots[place.position] = .open(state)
            names[place.position] = name
        }
        namesChanged = true
        takenNames?.insert(ByteText(name))
        return key
    }

    /// Returns whether a table has a name. The cost of making a table does not depend on how many there are.
    func isTaken(_ name: String) -> Bool {
        if takenNames == nil { takenNames = Set(texts: names) }
        return takenNames?.contains(ByteText(name)) ?? false
    }

    /// Returns the first position without a table, with the tag for the key of a new one.
    private func firstFreePosition() -> (position: Int, tag: UInt64) {
        while firstFree < slots.count {
            if case .removed(let tag) = slots[firstFree] { return (firstFree, tag) }
            firstFree += 1
        }
        return (slots.count, 0)
    }

    /// Removes a table from the list; the nodes that it referred to have been discarded before.
    func dropTable(_ key: TableKey) {
        slots[key.position] = .removed(UInt64((key.rawValue >> 16) + 1) & 0x7fff)
        names[key.position] = ""
        namesChanged = true
        takenNames = nil
        firstFree = min(firstFree, key.position)
    }

    /// Gives a table another name, which the caller has checked.
    func rename(_ key: TableKey, to name: String) throws(StorageError) {
        names[key.position] = name
        namesChanged = true
        takenNames = nil
        try update(key) { state in state.name = name }
    }

    // MARK: - Savepoints

    /// A state of the transaction to which it can be rolled back when a part of it fails.
    package struct Savepoint {
        /// The nodes of the transaction at that moment.
        fileprivate let nodes: WriteSpace.Savepoint
        /// The states of the tables at that moment.
        fileprivate let slots: [Slot]
        /// The names of the tables at that moment.
        fileprivate let names: [String]
        /// Whether the list of names had to be written again.
        fileprivate let namesChanged: Bool
        /// The roots of the last flush before it.
        fileprivate let roots: Roots?
        /// The number of changes recorded at that moment.
        fileprivate let changeCount: Int
    }

    /// Returns the present state, so that what follows can be undone. The writer sets one for each write of a group.
    package func savepoint() -> Savepoint {
        Savepoint(
            nodes: writes.savepoint(), slots: slots, names: names, namesChanged: namesChanged, roots: roots,
            changeCount: changes.count)
    }

    /// Undoes all changes since `savepoint`; later savepoints are invalid from then on.
    package func rollBack(to savepoint: Savepoint) {
        writes.rollBack(to: savepoint.nodes)
        slots = savepoint.slots
        names = savepoint.names
        namesChanged = savepoint.namesChanged
        (takenNames, firstFree) = (nil, 0)
        roots = savepoint.roots
        changes.removeSubrange(savepoint.changeCount...)
        tableWriters.removeAll()
    }

    // MARK: - The new version

    /// Makes the next version durable, and ends the transaction.
    ///
    /// - Returns: The new version.
    /// - Throws: `.io` when the disk rejects a write; nothing was committed then, and the
    ///   transaction may be tried again or ended.
    package func commit() throws(StorageError) -> Snapshot {
        let roots = try flush()
        var notes = CommitNotes(changes: changes, skips: skips)
        notes.requests = requests
        return try store.commit(names: roots.names, tables: roots.tables, notes: notes)
    }

    /// Replaces the file by a compact copy of it, which is brought up to date before.
    ///
    /// The version stays the same. Versions that are being read are read from the old file, which exists without a name until
    /// the last of them is released. The transaction must have no changes, and is to be ended afterwards.
    ///
    /// - Parameter copy: A copy that `FileStore.makeCompactCopy` made of an earlier version.
    /// - Returns: The newest version in the new file.
    /// - Throws: `StorageError`; the old file stays in use, unless `FileStore.acceptsWrites` is false then.
    package func replaceFile(by copy: CompactCopy) throws(StorageError) -> Snapshot {
        guard !hasChanges else { throw .refused(.notWritable("the transaction has changes")) }
        return try store.replaceFile(by: copy)
    }

    /// Discards all changes, and ends the transaction so that the next one can begin. After a
    /// commit, or a second time, it does nothing.
    package func end() { store.rollBack() }

    /// The roots of a version that is not committed yet.
    package struct Roots: Sendable {
        /// The node with the table names.
        package let names: Ref
        /// The node with the refs of the tables.
        package let tables: Ref
    }

    /// Whether anything differs from the version that the transaction started from.
    package var hasChanges: Bool {
        namesChanged
            || slots.contains { slot in
                if case .open(let state) = slot { return state.isChanged }
                return false
            }
    }

    /// Writes all changed tables and the list of tables to nodes in memory.
    ///
    /// - Returns: The roots of the whole present state. The transaction can continue.
    package func flush() throws(StorageError) -> Roots {
        let old = roots ?? Roots(names: base.top.names, tables: base.top.tables)
        var names = old.names
        if namesChanged || names.isNone {
            if !names.isNone { try writes.discard(names) }
            names = try writes.makeNames(self.names)
            namesChanged = false
        }
        var list = old.tables.isNone ? try writes.makeNode(.refs) : try writes.writable(old.tables)
        for position in slots.indices {
            let value = try flushSlot(position)
            if position < list.count { try list.set(position, value) } else { try list.append(value) }
        }
        let new = Roots(names: names, tables: list.ref)
        roots = new
        return new
    }

    /// Returns the present state as a snapshot, for queries and representations. It is valid until
    /// the next change or the end of the transaction.
    ///
    /// Changes are written to nodes in memory first, so it is not for loops.
    package func view() throws(StorageError) -> Snapshot {
        let roots = try flush()
        return try Snapshot(base: base, names: roots.names, tables: roots.tables, writes)
    }

    /// The roots that the last flush returned; nil before the first one.
    private var roots: Roots?

    /// Writes the table at a position if it has changed; returns the element that the list of tables has for it.
    private func flushSlot(_ position: Int) throws(StorageError) -> Int64 {
        switch slots[position] {
        case .committed(let ref): return Int64(bitPattern: ref.rawValue)
        case .removed(let tag): return MutableNode.tagged(tag)
        case .open(var state):
            let ref = try state.flush(writes)
            slots[position] = .open(state)
            return Int64(bitPattern: ref.rawValue)
        }
    }
}
