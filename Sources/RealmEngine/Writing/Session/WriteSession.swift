// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One write in progress, in the words of its users: class and property names, keys, inputs.
///
/// A session sees what it has written. It belongs to the writer thread; nothing of it outlives the closure it is handed
/// to. An error leaves the transaction half-changed: the code that runs the session rolls it back.
///
/// How a write uses it:
/// - Objects are named by class and key once, with `find`, `require` or `resolve`; everything after that takes the
///   `ObjectPlace` that was found.
/// - Inputs have no types of their own. They meet a property in `write(_:to:of:_:_:)`, where `ValueReader` reads them.
/// - `view()` is the uncommitted state as a `Snapshot`: for queries, for encoders and for entity tags. It is made on demand and
///   kept until the next change.
/// - Work that the data decide the length of is counted by `spend`; loops over objects call `checkDeadline` from time to time.
///
/// Errors are `WriteError`s whose path begins at the input that the failed call was given.
package final class WriteSession {
    /// For reading; whatever changes something goes through `changing`.
    let transaction: WriteTransaction
    /// What `view()` made last; nil when something was changed since.
    private var keptView: Snapshot?
    /// How often a snapshot of the uncommitted state was made; see `WriteFigures`.
    private(set) var viewCount = 0
    /// How often an object was looked up by its key; see `WriteFigures`.
    private(set) var lookupCount = 0
    /// What the write may cost; what is walked over on its behalf spends from it.
    package let budget: WorkBudget
    /// When to give up.
    package var deadline: Instant { budget.deadline }
    /// Objects made under a name, for links to them.
    var named: [String: ObjectPlace] = [:]
    /// How the members of inputs name properties.
    package var naming = MemberNaming.plain
    /// Names of linking objects, which queries know and which cannot be written.
    let backlinkNames: BacklinkNames
    /// Told how much of a long write is done, and asked whether it is still wanted.
    package var control: WorkControl?
    /// Where in a migration the session is.
    var stepProgress: StepProgress?
    /// Called after a query of a class was evaluated, with the time when it began.
    var didQuery: (_ begin: Instant, _ className: String) -> Void = { _, _ in }
    /// How large schemas may become.
    let limits: WriteLimits
    /// Memory that changes may take. Imports have no such limit: their size is that of the body.
    package var byteLimit: Int
    /// What others in the same transaction took before.
    private let bytesBefore: Int
    /// How many changes others in the same transaction made before.
    private let changesBefore: Int
    /// What a note of a change takes: every element of a list has one. While their array grows there are two of it.
    private static let bytesOfChange = 2 * MemoryLayout<ObjectChange>.stride
    /// Where the nodes of the transaction are made; tells how much memory changes take.
    private let arena: NodeArena
    /// Columns that were made; the clock is looked at now and then.
    var schemaSteps = 0
    /// Of the object made last, to be used again; nil while another object is made.
    var spareDraft: ObjectDraft?

    /// A session in a transaction that others may have written in; their changes do not count against its limits.
    init(
        _ transaction: WriteTransaction, deadline: Instant, backlinkNames: BacklinkNames = .none,
        limits: WriteLimits = WriteLimits()
    ) {
        self.transaction = transaction
        budget = WorkBudget(deadline: deadline)
        transaction.budget = budget
        self.backlinkNames = backlinkNames
        self.limits = limits
        byteLimit = limits.writeBytes
        arena = transaction.writes.arena
        bytesBefore = arena.used
        changesBefore = transaction.changes.count
    }

    /// How inputs are taken.
    package struct Options: Sendable {
        /// Full objects in the place of links are created or updated.
        package var writesNestedObjects = false
        /// Members that the class does not have are ignored.
        package var ignoresUnknownMembers = false

        /// Refuses nested objects and unknown members by default.
        package init(writesNestedObjects: Bool = false, ignoresUnknownMembers: Bool = false) {
            self.writesNestedObjects = writesNestedObjects
            self.ignoresUnknownMembers = ignoresUnknownMembers
        }
    }

    /// An object that was written.
    package struct Written: Sendable {
        /// Where it is.
        package let place: ObjectPlace
        /// Whether it is new.
        package let isCreated: Bool
    }

    // MARK: - Reading

    /// The present state, for queries, encoders and digests. Valid until the next change, and kept until then: making it
    /// flushes every changed table.
    package func view() throws(WriteError) -> Snapshot {
        guard transaction.hasChanges else { return transaction.base }
        if let keptView { return keptView }
        viewCount += 1
        let view = try stored(try transaction.view())
        keptView = view
        return view
    }

    /// The transaction, for a change: what `view()` made before is not the present state any more.
    var changing: WriteTransaction {
        keptView = nil
        return transaction
    }

    /// Throws when there is no time left; long loops ask from time to time.
    package func checkDeadline() throws(WriteError) {
        if let control, control.isCancelled { throw WriteError(.cancelled, "the write was cancelled") }
        guard budget.goesOn else { throw WriteError(.deadlineExceeded, WriteError.late) }
        try requireRoom()
    }

    /// Throws when the changes take more memory than they may; asked between two objects or edits.
    @inline(__always) func requireRoom() throws(WriteError) {
        let changes = transaction.changes.count &- changesBefore
        if arena.used &- bytesBefore &+ changes &* WriteSession.bytesOfChange > byteLimit { throw tooMuch }
    }

    /// The error of a write that changes too much.
    private var tooMuch: WriteError {
        var error = WriteError(.tooManyAffected, "the write changes more than \(byteLimit) bytes; change fewer objects at a time")
        error.limit = byteLimit
        error.exceeded = .writeBytes
        return error
    }

    /// Whether anything was changed so far.
    package var hasChanges: Bool { transaction.hasChanges }

    /// Counts work on the way; throws when there is no time left, or no room.
    @inline(__always) func spend(_ units: Int = 1) throws(WriteError) {
        try stored(try budget.spend(units))
        try requireRoom()
    }

    // MARK: - Classes

    /// The present state of a table.
    func table(_ key: TableKey) throws(WriteError) -> TableState { try stored(try transaction.table(key)) }

    /// A class by its name without prefix.
    func table(class name: String) throws(WriteError) -> TableState {
        guard let table = try stored(try transaction.table(named: Table.classPrefix + name)) else {
            throw WriteError(.classNotFound, "there is no class '\(name)'")
        }
        return table
    }

    /// A class whose objects are written by themselves; throws `embeddedClass` for others.
    func objectTable(_ name: String) throws(WriteError) -> TableState {
        let table = try table(class: name)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(name) }
        return table
    }

    /// The class of an object that is written by itself; throws `embeddedClass` for others.
    func objectTable(of place: ObjectPlace) throws(WriteError) -> TableState {
        let table = try table(place.table)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(table.className) }
        return table
    }

    // MARK: - Objects

    /// The object that `name` means in a class, or nil.
    func find(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace? {
        lookupCount += 1
        switch name {
        case .reference(let name):
            let place = try reference(name)
            return place.table == table.key ? place : nil
        case .objectKey(let key): return try existing(key, in: table)
        case .text(let text):
            switch KeyText.parse(text, primaryKey: table.primaryKey) {
            case nil: return nil
            case .objectKey(let key): return try existing(key, in: table)
            case .primaryKey(let value): return try find(value, in: table)
            }
        case .primaryKey(let input):
            guard let column = table.primaryKey else { return nil }
            return try find(try ValueReader.read(input, as: column.type, isNullable: column.isNullable), in: table)
        }
    }

    /// The object with a primary key, or nil.
    func find(_ primaryKey: OwnedValue, in table: TableState) throws(WriteError) -> ObjectPlace? {
        let key = try primaryKey.use { value throws(WriteError) in
            try stored(try transaction.findByPrimaryKey(value, in: table.key))
        }
        return key.map { ObjectPlace(table: table.key, object: $0) }
    }

    /// The object of a key, if it is there.
    private func existing(_ key: ObjectKey, in table: TableState) throws(WriteError) -> ObjectPlace? {
        guard key.rawValue >= 0, try stored(try transaction.row(key, in: table.key)) != nil else { return nil }
        return ObjectPlace(table: table.key, object: key)
    }

    /// The object that `name` means; `object_not_found` without one.
    func require(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace {
        guard let place = try find(name, in: table) else {
            throw WriteError(.objectNotFound, "there is no object with this key")
        }
        return place
    }

    /// The object made under `name` before.
    func reference(_ name: String) throws(WriteError) -> ObjectPlace {
        guard let place = named[name] else {
            throw WriteError(.linkTargetMissing, "no object was made under the name '\(name)' before")
        }
        return place
    }

    /// The object that `name` means, or nil; throws `classNotFound` when there is no such class.
    package func find(_ name: ObjectName, class className: String) throws(WriteError) -> ObjectPlace? {
        try find(name, in: try table(class: className))
    }

    /// The object that `name` means, in a class whose objects are written by themselves. Throws `classNotFound`,
    /// `embeddedClass` or `objectNotFound`.
    package func require(_ name: ObjectName, class className: String) throws(WriteError) -> ObjectPlace {
        try require(name, in: try objectTable(className))
    }

    /// What `name` means in a class, whether there is such an object or not; throws `classNotFound` when there is no such
    /// class.
    package func resolve(_ name: ObjectName, class className: String) throws(WriteError) -> ResolvedKey {
        let table = try table(class: className)
        return ResolvedKey(table: table.key, name: name, place: try find(name, in: table))
    }

    /// Whether an object is there.
    package func isThere(_ place: ObjectPlace) throws(WriteError) -> Bool {
        try stored(try transaction.row(place.object, in: place.table)) != nil
    }

    /// The key of an object as text, read from the transaction; nil when the object is not there.
    package func keyText(of place: ObjectPlace) throws(WriteError) -> String? {
        guard try isThere(place) else { return nil }
        guard let column = try table(place.table).primaryKey else { return KeyText.text(place.object) }
        return KeyText.text(
            try stored(try transaction.value(column, of: place.object, in: place.table)), objectKey: place.object)
    }
}
