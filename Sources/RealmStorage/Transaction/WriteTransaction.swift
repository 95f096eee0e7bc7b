// SPDX-License-Identifier: Apache-2.0

/// A change of a database in progress: the tables of the version it started from, and what became of them.
///
/// All changes are made in memory until `commit`. A transaction that is dropped leaves no trace.
///
/// `@unchecked Sendable`: may go from thread to thread, but is used by one at a time.
package final class WriteTransaction: @unchecked Sendable {
    /// The right to write.
    private let store: StoreWrite
    /// log2 of the size of cluster leaves: 8 but in tests of deep trees.
    let clusterShift: Int

    /// What is at each position of the list of tables.
    private var slots: [Slot]
    /// What was done so far, in order.
    package internal(set) var changes: [ObjectChange] = []
    /// What those who change something now may spend; nil where nothing bounds the work.
    package var budget: WorkBudget?
    /// By position, made when they are needed.
    var tableWriters: [Int: TableWriters] = [:]
    /// The names of all tables, by position.
    private var names: [String]
    /// Whether the list of names has to be written anew.
    private var namesChanged = false

    /// What is known about a table.
    fileprivate enum Slot {
        /// A table that was not asked for yet.
        case committed(Ref)
        /// A table that was read, with its present state.
        case open(TableState)
        /// A removed table, with the tag that the next table at this position gets.
        case removed(UInt64)
    }

    /// What taking one object or link out costs, in units of a budget.
    static let unitsPerLink = 16

    /// Counts work whose length the data decide: links to an object, elements of a collection, objects of a table.
    @inline(__always) func spend(_ units: Int = WriteTransaction.unitsPerLink) throws(StorageError) { try budget?.spend(units) }

    /// Reads the list of tables; tables themselves are read when they are asked for.
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

    /// The version it started from.
    package var base: Snapshot { store.base }
    /// Where its nodes are made.
    package var writes: WriteSpace { store.nodes }

    // MARK: - Tables

    /// The present state of a table; throws when there is none with that key.
    package func table(_ key: TableKey) throws(StorageError) -> TableState {
        let state = try open(key.position)
        guard let state, state.key == key else {
            throw .corrupt(ref: .none, reason: "no table has the key \(key.rawValue)")
        }
        return state
    }

    /// The root of the tree that an object is in, without a copy of the table's state.
    func root(of object: ObjectKey, in key: TableKey) throws(StorageError) -> Ref {
        guard slots.indices.contains(key.position), case .open(let state) = slots[key.position], state.key == key else {
            let state = try table(key)
            return object.rawValue < 0 ? state.tombstones : state.objects
        }
        return object.rawValue < 0 ? state.tombstones : state.objects
    }

    /// The root of an index, without a copy of the table's state.
    func indexRoot(_ leafIndex: Int, in key: TableKey) throws(StorageError) -> Ref {
        if case .open(let state) = slots[key.position], state.key == key { return state.indexRoot(leafIndex) }
        return try table(key).indexRoot(leafIndex)
    }

    /// Whether there is a table with exactly that key.
    func hasTable(_ key: TableKey) throws(StorageError) -> Bool { try open(key.position)?.key == key }

    /// The present state of a table by its full name; nil when there is none.
    package func table(named name: String) throws(StorageError) -> TableState? {
        guard let position = names.firstIndex(of: name) else { return nil }
        return try open(position)
    }

    /// The keys of all tables in position order.
    package func tableKeys() throws(StorageError) -> [TableKey] {
        var keys: [TableKey] = []
        for position in slots.indices { if let state = try open(position) { keys.append(state.key) } }
        return keys
    }

    /// How many tables there are; places of removed ones do not count.
    var presentTableCount: Int {
        slots.count { slot in
            if case .removed = slot { return false }
            return true
        }
    }

    /// Changes the state of a table in place.
    func update<Result>(
        _ key: TableKey, _ change: (inout TableState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var state = try table(key)
        // Taken out while it changes, so that its arrays are not copied.
        slots[key.position] = .removed(0)
        defer { slots[key.position] = .open(state) }
        return try change(&state)
    }

    /// The state of the table at a position, read when it is first needed; nil for none.
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

    /// Adds a table without columns at the first free position. Throws `.limit` when there is no room.
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
        return key
    }

    /// The first position without a table, with the tag for a new one.
    private func firstFreePosition() -> (position: Int, tag: UInt64) {
        for (position, slot) in slots.enumerated() {
            if case .removed(let tag) = slot { return (position, tag) }
        }
        return (slots.count, 0)
    }

    /// Takes a table off the list; what it referred to has been given up before.
    func dropTable(_ key: TableKey) {
        slots[key.position] = .removed(UInt64((key.rawValue >> 16) + 1) & 0x7fff)
        names[key.position] = ""
        namesChanged = true
    }

    /// Gives a table another name, which is free.
    func rename(_ key: TableKey, to name: String) throws(StorageError) {
        names[key.position] = name
        namesChanged = true
        try update(key) { state in state.name = name }
    }

    // MARK: - Savepoints

    /// What the transaction goes back to when a part of it fails.
    package struct Savepoint {
        /// How far the nodes went.
        fileprivate let nodes: WriteSpace.Savepoint
        /// The tables.
        fileprivate let slots: [Slot]
        /// Their names.
        fileprivate let names: [String]
        /// Whether the list of names was changed.
        fileprivate let namesChanged: Bool
        /// What the lists were last written as.
        fileprivate let roots: Roots?
        /// How many changes there were.
        fileprivate let changeCount: Int
    }

    /// Remembers the present state, so that a part of the transaction can be undone.
    package func savepoint() -> Savepoint {
        Savepoint(
            nodes: writes.savepoint(), slots: slots, names: names, namesChanged: namesChanged, roots: roots,
            changeCount: changes.count)
    }

    /// Undoes what happened since `savepoint`, and forgets what was changed then.
    package func rollBack(to savepoint: Savepoint) {
        writes.rollBack(to: savepoint.nodes)
        slots = savepoint.slots
        names = savepoint.names
        namesChanged = savepoint.namesChanged
        roots = savepoint.roots
        changes.removeSubrange(savepoint.changeCount...)
        tableWriters.removeAll()
    }

    // MARK: - The new version

    /// Makes the next version durable, and ends the transaction. After an error it still runs and nothing was written.
    ///
    /// Throws `.io` when the disk refuses; the transaction then still runs, and may be tried again or ended.
    package func commit() throws(StorageError) -> Snapshot {
        let roots = try flush()
        return try store.commit(names: roots.names, tables: roots.tables)
    }

    /// Forgets everything and lets the next transaction begin.
    ///
    /// Called again, or after a commit, it does nothing.
    package func end() { store.rollBack() }

    /// The roots of the new version.
    package struct Roots: Sendable {
        /// The list of table names.
        package let names: Ref
        /// The list of tables.
        package let tables: Ref
    }

    /// Whether anything differs from the version the transaction started from.
    package var hasChanges: Bool {
        namesChanged
            || slots.contains { slot in
                if case .open(let state) = slot { return state.isChanged }
                return false
            }
    }

    /// Brings all nodes up to date: what `roots` names is the whole present state. The transaction can go on.
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

    /// The present state as a snapshot, for queries and representations: valid until the next change or the end.
    ///
    /// Writes what has changed to nodes in memory first, so it is not for loops. The view must not be used after the next change.
    package func view() throws(StorageError) -> Snapshot {
        let roots = try flush()
        return try Snapshot(base: base, names: roots.names, tables: roots.tables, writes)
    }

    /// What was flushed last.
    private var roots: Roots?

    /// Writes a table, if it has changed; returns what the list of tables holds for it.
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
