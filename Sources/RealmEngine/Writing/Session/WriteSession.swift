// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One write in progress, in the words of its users: class and property names, keys, inputs.
///
/// A session sees what it has written. It belongs to the writer thread; nothing of it outlives the closure it is handed
/// to. An error leaves the transaction half-changed: whoever runs the session rolls it back.
package final class WriteSession {
    let transaction: WriteTransaction
    /// What the write may cost; what is walked over on its behalf spends from it.
    package let budget: WorkBudget
    /// When to give up.
    package var deadline: Instant { budget.deadline }
    /// Objects made under a name, for links to them.
    var named: [String: ObjectPlace] = [:]
    /// Names of linking objects, which nobody can write, but queries know.
    let backlinkNames: BacklinkNames
    /// Told how much of a long write is done, and asked whether it is still wanted.
    package var control: WorkControl?
    /// Where in a migration the session is.
    var stepProgress: StepProgress?
    /// How large schemas may become.
    let limits: WriteLimits
    /// Memory that changes may take. What is imported takes what it takes: whoever sends it sent all of it.
    package var byteLimit: Int
    /// What others in the same transaction took before.
    private let bytesBefore: Int
    private let changesBefore: Int
    /// What a note of a change takes: every element of a list has one. While their array grows there are two of it.
    private static let bytesOfChange = 2 * MemoryLayout<ObjectChange>.stride
    private let arena: NodeArena
    /// Columns that were made; the clock is looked at now and then.
    var schemaSteps = 0
    /// Of the object made last, to be used again; nil while another object is made.
    var spareDraft: ObjectDraft?

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
        /// Full objects in the place of links are created or updated (`nested=upsert`).
        package var writesNestedObjects = false
        /// Members that the class does not have are ignored (`handling=lenient`).
        package var ignoresUnknownMembers = false

        package init(writesNestedObjects: Bool = false, ignoresUnknownMembers: Bool = false) {
            self.writesNestedObjects = writesNestedObjects
            self.ignoresUnknownMembers = ignoresUnknownMembers
        }
    }

    /// An object that was written.
    package struct Written: Sendable {
        package let place: ObjectPlace
        /// Whether it is new.
        package let isCreated: Bool
    }

    // MARK: - Reading

    /// The present state, for queries, encoders and digests. Valid until the next change.
    package func view() throws(WriteError) -> Snapshot { try stored(try transaction.view()) }

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

    private var tooMuch: WriteError {
        var error = WriteError(.tooManyAffected, "the write changes more than \(byteLimit) bytes; change fewer objects at a time")
        error.limit = byteLimit
        error.limitName = "write-bytes"
        return error
    }

    /// Whether anything was changed so far.
    package var hasChanges: Bool { transaction.hasChanges }

    /// Counts work on the way; throws when there is no time left, or no room.
    @inline(__always) func spend(_ units: Int = 1) throws(WriteError) {
        try stored(try budget.spend(units))
        try requireRoom()
    }

    /// Whether there is time left; what queries ask.
    package var hasTime: Bool { budget.goesOn }

    // MARK: - Classes

    func table(_ key: TableKey) throws(WriteError) -> TableState { try stored(try transaction.table(key)) }

    /// A class by its name without prefix.
    func table(class name: String) throws(WriteError) -> TableState {
        guard let table = try stored(try transaction.table(named: Table.classPrefix + name)) else {
            throw WriteError(.classNotFound, "there is no class '\(name)'")
        }
        return table
    }

    /// A class whose objects are written by themselves.
    func objectTable(_ name: String) throws(WriteError) -> TableState {
        let table = try table(class: name)
        guard table.kind != .embedded else {
            throw WriteError(.embeddedClass, "objects of the embedded class '\(name)' are written inside their owners")
        }
        return table
    }

    // MARK: - Objects

    /// The object that `name` means in a class, or nil.
    func find(_ name: ObjectName, in table: TableState) throws(WriteError) -> ObjectPlace? {
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

    /// The object that `name` means, or nil; `class_not_found` when there is no such class.
    package func find(_ name: ObjectName, class className: String) throws(WriteError) -> ObjectPlace? {
        try find(name, in: try table(class: className))
    }
}
