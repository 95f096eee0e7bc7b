// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// One write in progress, in terms of class names, property names, keys and inputs.
///
/// A session sees what it has written. It belongs to the writer's thread and ends with the closure that it is passed to. An
/// error leaves the transaction in a partly changed state: the code that runs the session rolls it back.
///
/// How a write uses it:
///
/// - Objects are looked up by class and key once, with `find`, `require` or `resolve`; all later calls
///   take the `ObjectPlace` that was found.
/// - Inputs have no types of their own. In `write(_:to:of:_:_:)` they meet a property, and `ValueReader`
///   reads them as its type.
/// - `view()` is the uncommitted state as a `Snapshot`: for queries, encoders and entity tags. It is made
///   on demand and kept until the next change.
/// - Work whose length depends on the data is counted by `spend`; loops over objects call `checkDeadline`
///   at intervals.
///
/// Errors are `WriteError`s whose path begins at the input that was passed to the failed call.
package final class WriteSession {
    /// The transaction, for reading. All changes go through `changing`.
    let transaction: WriteTransaction
    /// The uncommitted state with everything, and as the sender of the write sees it; nil when something has changed since.
    private var keptViews: (whole: Snapshot, shown: Snapshot?)?
    /// The restricted rights of the sender; nil when everything is allowed.
    var restriction: WriteRestriction?
    /// The number of snapshots of the uncommitted state that were made, for `WriteMetrics`.
    private(set) var viewCount = 0
    /// The number of objects that were looked up by their key, for `WriteMetrics`.
    var lookupCount = 0
    /// The work and time that this write may take. All walks over data on its behalf spend from it.
    package let budget: WorkBudget
    /// The instant at which the write times out.
    package var deadline: Instant { budget.deadline }
    /// The objects of this session that were created under a name, for links to them.
    var named: [ByteText: ObjectPlace] = [:]
    /// How the member names of inputs refer to properties.
    package var naming = MemberNaming.plain
    /// The names of linking objects, which queries accept and which cannot be written.
    let backlinkNames: BacklinkNames
    /// The values of properties that a create leaves out.
    var defaults = ClassDefaults.none
    /// The classes that this write knows of; nil for all classes of the file. They are the same at its end, as a
    /// realm that shows a part of its classes neither adds nor removes any.
    let part: SnapshotPart?
    /// Receives the progress of a long write, and states whether it was cancelled; nil for a write without either.
    package var control: WorkControl?
    /// The step of a migration that is in progress; nil outside migrations.
    var stepProgress: StepProgress?
    /// The state that the steps of a migration share.
    var migrationWork = WriteSession.MigrationWork()
    /// Called after a query of a class was evaluated, with the instant at which it began.
    var didQuery: (_ begin: Instant, _ className: String) -> Void = { _, _ in }
    /// The limits of schemas and of the memory for changes.
    let limits: WriteLimits
    /// The memory in bytes that the changes of this write may take.
    package var byteLimit: Int
    /// The share of the transaction in the memory for uncommitted writes; nil when it is not counted.
    var holding: WriteMemory.Holding?
    /// The memory in bytes up to which nothing has to be counted among the writes of all realms.
    private var grantedBytes = 0
    /// The memory in bytes that the caller keeps until the commit, besides nodes and changes.
    package var keptBytes = 0
    /// The memory in bytes of the results that the caller keeps until the commit.
    package var resultBytes = 0
    /// The bytes of the arena that other writes of the same transaction used before.
    private var bytesBefore: Int
    /// The number of changes that other writes of the same transaction made before.
    private var changesBefore: Int
    /// Whether the limits apply to the whole transaction rather than to this write.
    var countsTransaction: Bool {
        get { bytesBefore == 0 && changesBefore == 0 }
        set { if newValue { (bytesBefore, changesBefore) = (0, 0) } }
    }
    /// The estimated memory in bytes of one recorded change.
    /// Every changed element has one, and while their array grows there are two copies of it.
    private static let bytesOfChange = 2 * MemoryLayout<ObjectChange>.stride
    /// The memory in which the transaction builds its nodes; it states how much the changes take.
    private let arena: NodeArena
    /// The number of columns added so far, so that the clock is checked at intervals.
    var schemaSteps = 0
    /// The draft of the last created object, kept for the next one; nil while an object is being created.
    var spareDraft: ObjectDraft?

    /// Makes a session in a transaction. Changes that others made in it before do not count against its limits.
    ///
    /// - Parameters:
    ///   - transaction: The transaction, which the session shares with other writes of its group.
    ///   - deadline: The instant at which the write times out.
    ///   - backlinkNames: The configured names of linking objects.
    ///   - part: The classes that the write knows of; nil for all.
    ///   - limits: The limits of memory and schemas.
    init(
        _ transaction: WriteTransaction, deadline: Instant, backlinkNames: BacklinkNames = .none, part: SnapshotPart? = nil,
        limits: WriteLimits = WriteLimits()
    ) {
        self.transaction = transaction
        budget = WorkBudget(deadline: deadline)
        transaction.budget = budget
        self.backlinkNames = backlinkNames
        self.part = part
        self.limits = limits
        byteLimit = limits.writeBytes
        arena = transaction.writes.arena
        bytesBefore = arena.used
        changesBefore = transaction.changes.count
    }

    /// The members that were ignored, where options say so.
    package internal(set) var ignored = IgnoredMembers()

    /// Options for how inputs are accepted.
    package struct Options: Sendable {
        /// Whether whole objects in place of links are accepted; they are created or updated.
        package var writesNestedObjects = false
        /// Whether members that the class does not have are ignored instead of rejected.
        package var ignoresUnknownMembers = false

        /// Makes options; by default nested objects and unknown members are rejected.
        package init(writesNestedObjects: Bool = false, ignoresUnknownMembers: Bool = false) {
            self.writesNestedObjects = writesNestedObjects
            self.ignoresUnknownMembers = ignoresUnknownMembers
        }
    }

    /// The result of writing an object.
    package struct Written: Sendable {
        /// The keys of the object.
        package let place: ObjectPlace
        /// Whether the object was created by this call.
        package let isCreated: Bool

        /// Makes the result of a call.
        package init(place: ObjectPlace, isCreated: Bool) {
            self.place = place
            self.isCreated = isCreated
        }
    }

    // MARK: - Reading

    /// Returns the uncommitted state as the sender of the write sees it, for queries, encoders and entity tags.
    ///
    /// It is valid until the next change, and kept until then, because making it writes out all changed tables.
    ///
    /// - Throws: `WriteError` when storage fails.
    package func view() throws(WriteError) -> Snapshot {
        guard let restriction else { return try wholeView() }
        let whole = try wholeView()
        if let shown = keptViews?.shown { return shown }
        let shown =
            !transaction.hasChanges ? restriction.shownBase : restriction.rights.shown(of: whole).map { Snapshot($0) } ?? whole
        keptViews = (whole, shown)
        return shown
    }

    /// Returns the uncommitted state with all objects and properties, on which rules are evaluated.
    func wholeView() throws(WriteError) -> Snapshot {
        if !transaction.hasChanges, part == nil { return transaction.base }
        if let keptViews { return keptViews.whole }
        let whole = transaction.hasChanges ? try stored(try transaction.view()) : transaction.base
        if transaction.hasChanges { viewCount += 1 }
        let view = part.map { Snapshot(SnapshotPart($0, of: whole)) } ?? whole
        keptViews = (view, nil)
        return view
    }

    /// The transaction, for a change. Using it discards the kept views, which would be outdated.
    var changing: WriteTransaction {
        keptViews = nil
        return transaction
    }

    /// The transaction for changes of the file's own terms, which go around the rights of the sender and the defaults of classes.
    package var storage: WriteTransaction { changing }

    /// Checks that the write may continue; long loops call this at intervals.
    ///
    /// - Throws: `WriteError`: `cancelled`, `deadlineExceeded`, or `tooManyAffected` when the changes
    ///   take too much memory.
    package func checkDeadline() throws(WriteError) {
        if let control, control.isCancelled { throw WriteError(.cancelled, "the write was cancelled") }
        guard budget.continues else { throw WriteError(.deadlineExceeded, WriteError.late) }
        try requireRoom()
    }

    /// Throws `tooManyAffected` when the changes take more than `byteLimit`, and `overloaded` when those of all realms take too much.
    /// It is called between two objects or edits.
    @inline(__always) func requireRoom() throws(WriteError) {
        let used = usedBytes
        if used > byteLimit { throw tooMuch }
        if used > grantedBytes { try takeRoom(used) }
    }

    /// Counts what the transaction takes among the writes of all realms; throws `overloaded` when they take too much together.
    private func takeRoom(_ used: Int) throws(WriteError) {
        guard let holding else {
            grantedBytes = .max
            return
        }
        let before = bytesBefore &+ changesBefore &* WriteSession.bytesOfChange
        try holding.extend(to: used &+ before, limits)
        grantedBytes = holding.byteCount &- before
    }

    /// The memory in bytes that the changes take so far.
    @inline(__always) package var usedBytes: Int {
        let changes = transaction.changes.count &- changesBefore
        let kept = keptBytes &+ (restriction?.byteCount ?? 0)
        return arena.used &- bytesBefore &+ changes &* WriteSession.bytesOfChange &+ kept
    }

    /// The error for a write whose changes take too much memory, with the limit.
    var tooMuch: WriteError {
        var error = WriteError(.tooManyAffected, "the write changes more than \(byteLimit) bytes; change fewer objects at a time")
        error.limit = byteLimit
        error.exceeded = .writeBytes
        return error
    }

    /// Whether the sender of the write has a part of the rights only.
    package var isRestricted: Bool { restriction != nil }

    /// Whether the transaction has any changes so far, including those of other writes of its group.
    package var hasChanges: Bool { transaction.hasChanges }

    /// Counts work against the budget; throws when the time or the memory of the write is used up.
    ///
    /// - Parameter units: The work in units of a `WorkBudget`.
    @inline(__always) func spend(_ units: Int = 1) throws(WriteError) {
        try stored(try budget.spend(units))
        try requireRoom()
    }

    /// Counts a value that is copied, compared or written against the time of the write; throws when that is used up.
    ///
    /// - Parameter byteCount: The bytes of a string or binary; 0 for values of a fixed size.
    @inline(__always) func spend(bytes byteCount: Int) throws(WriteError) {
        try stored(try budget.spend(WorkBudget.units(forBytes: byteCount)))
    }

    // MARK: - Classes

    /// Returns the uncommitted state of a table.
    func table(_ key: TableKey) throws(WriteError) -> TableState { try stored(try transaction.table(key)) }

    /// Returns the table of a class, by the name without prefix; nil when there is none that this write knows of.
    func classTable(named name: String) throws(WriteError) -> TableState? {
        guard let table = try stored(try transaction.table(named: Table.classPrefix + name)) else { return nil }
        guard isShown(table.key), try knows(table) else { return nil }
        return table
    }

    /// Returns whether the write knows of a class.
    func isShown(_ table: TableKey) -> Bool { part?.shown.contains(table) ?? true }

    /// Returns the table of a class, by the name without prefix; throws `classNotFound` when there is none.
    func table(class name: String) throws(WriteError) -> TableState {
        guard let table = try classTable(named: name) else {
            var error = WriteError(.classNotFound, "there is no class '\(name.truncated)'")
            // Only what the sender sees is suggested.
            error.unknownName = (name: name, known: try view().classes.compactMap(\.className))
            throw error
        }
        return table
    }

    /// Returns the table of a class with top-level objects; throws `classNotFound` or `embeddedClass` otherwise.
    func objectTable(_ name: String) throws(WriteError) -> TableState {
        let table = try table(class: name)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(name) }
        return table
    }

    /// Returns the table of a top-level object; throws `embeddedClass` for an embedded one.
    func objectTable(of place: ObjectPlace) throws(WriteError) -> TableState {
        let table = try table(place.table)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(table.className) }
        return table
    }

    // MARK: - Objects

    /// Returns the object that a name refers to in a class; nil when there is none of which the sender of the write knows.
    ///
    /// - Parameters:
    ///   - name: A key text, a primary key, an object key, or a name that this session gave to an object.
    /// - Throws: `WriteError` when a primary key does not fit its type, or storage fails.
    func find(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace? {
        guard let place = try anyObject(name, in: table) else { return nil }
        if case .reference = name { return place }
        return try knows(place, table) ? place : nil
    }

    /// Returns the object that a name refers to in a class, hidden or not; nil when there is none.
    private func anyObject(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace? {
        lookupCount += 1
        switch name {
        case .reference(let name):
            let place = try reference(name)
            return place.table == table.key ? try existing(place.object, in: table) : nil
        case .objectKey(let key): return try existing(key, in: table)
        case .text(let text):
            switch KeyText.parse(text, primaryKey: knownPrimaryKey(of: table)) {
            case nil: return nil
            case .objectKey(let key): return try existing(key, in: table)
            case .primaryKey(let value): return try find(value, in: table)
            }
        case .primaryKey(let input):
            guard let column = knownPrimaryKey(of: table) else { return nil }
            return try find(try ValueReader.read(input, as: column.type, isNullable: column.isNullable), in: table)
        }
    }

    /// Returns the object with a primary key, hidden or not; nil when there is none.
    func find(_ primaryKey: OwnedValue, in table: TableState) throws(WriteError) -> ObjectPlace? {
        let key = try primaryKey.use { value throws(WriteError) in
            try stored(try transaction.findByPrimaryKey(value, in: table.key))
        }
        return key.map { ObjectPlace(table: table.key, object: $0) }
    }

    private func existing(_ key: ObjectKey, in table: TableState) throws(WriteError) -> ObjectPlace? {
        guard key.rawValue >= 0, try stored(try transaction.row(key, in: table.key)) != nil else { return nil }
        return ObjectPlace(table: table.key, object: key)
    }

    /// Returns the object that a name refers to; throws `objectNotFound` when there is none.
    func require(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace {
        guard let place = try find(name, in: table) else {
            throw noObject(name, in: table)
        }
        return place
    }

    /// Makes the error for a name that no object of a class has.
    ///
    /// - Throws: `classNotFound` when there is no such class.
    package func missing(_ name: ObjectName, class className: String) throws(WriteError) -> WriteError {
        noObject(name, in: try table(class: className))
    }

    func noObject(_ name: ObjectName, in table: TableState) -> WriteError {
        var hint = ""
        if case .text(let text) = name {
            hint = KeyText.hint(for: text, primaryKey: knownPrimaryKey(of: table), of: table.className)
        }
        return WriteError(.objectNotFound, "there is no object with this key\(hint)")
    }

    /// Returns the object that was created under a name in this session; throws `linkTargetMissing` when there is none.
    func reference(_ name: String) throws(WriteError) -> ObjectPlace {
        guard let place = named[name] else {
            throw WriteError(.linkTargetMissing, "no object was created under the name '\(name)' before")
        }
        return place
    }

    /// Returns the object that a name refers to, or nil; throws `classNotFound` when there is no such class.
    package func find(_ name: ObjectName, class className: String) throws(WriteError) -> ObjectPlace? {
        try find(name, in: try table(class: className))
    }

    /// Returns the object that a name refers to, in a class with top-level objects.
    ///
    /// - Throws: `WriteError`: `classNotFound`, `embeddedClass` or `objectNotFound`.
    package func require(_ name: ObjectName, class className: String) throws(WriteError) -> ObjectPlace {
        try require(name, in: try objectTable(className))
    }

    /// Looks up a key, whether there is such an object or not.
    ///
    /// - Throws: `WriteError`: `classNotFound` when there is no such class, and the errors of reading the
    ///   key.
    package func resolve(_ name: ObjectName, class className: String) throws(WriteError) -> WriteSession.ResolvedKey {
        let table = try table(class: className)
        return WriteSession.ResolvedKey(table: table.key, name: name, place: try find(name, in: table))
    }

    /// Returns whether an object exists in the uncommitted state, and its class has the name if one is given. The class may have been
    /// removed since the object was found.
    package func isThere(_ place: ObjectPlace, class name: String? = nil) throws(WriteError) -> Bool {
        if let name, try classTable(named: name)?.key != place.table { return false }
        guard try stored(try transaction.hasTable(place.table)) else { return false }
        return try stored(try transaction.row(place.object, in: place.table)) != nil
    }

    /// Returns the key of an object as text, from the uncommitted state; nil when the object does not exist.
    package func keyText(of place: ObjectPlace) throws(WriteError) -> String? {
        guard let row = try stored(try transaction.row(place.object, in: place.table)) else { return nil }
        guard let column = knownPrimaryKey(of: try table(place.table)) else { return KeyText.text(place.object) }
        return KeyText.text(try stored(try row.value(column)), objectKey: place.object)
    }
}

extension WriteSession {
    /// A key together with the object that it refers to in a transaction. It is valid until the next change.
    ///
    /// A replacement needs to know whether the object exists to evaluate conditions such as `If-Match`,
    /// before the body is checked. With this value the key is looked up once for both.
    package struct ResolvedKey: Sendable {
        /// The table of the class that the key belongs to.
        let table: TableKey
        let name: ObjectName
        /// The object that has the key; nil when there is none.
        package let place: ObjectPlace?
    }
}
