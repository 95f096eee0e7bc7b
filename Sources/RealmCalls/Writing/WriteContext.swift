// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// A write in progress: the engine's session, and the means to make the response.
///
/// It belongs to the writer's thread for the duration of one closure, and must not leave it.
package final class WriteContext {
    /// The engine's session, in which all changes are made.
    package let session: WriteSession
    /// The open realm that is written to.
    package let database: Database
    /// The demands of the request in addition to its changes, such as conditions and the representation.
    package let options: WriteOptions
    /// The version from which an interactive transaction began; nil for a separate write.
    package let base: VersionToken?
    /// The version that a condition has to name: `base`, or the newest one; nil when other writes precede this one in its commit.
    private let newest: VersionToken?
    /// The part of the realm that the sender of the write may read; nil for everything.
    private var scope: (any VersionScope)?

    /// The record of the request for the audit log, which keys are added to; nil for none.
    package var audit: AuditRecord?

    /// Creates a context, and has the session name properties as documents do (`$$x` for a property `$x`).
    package init(_ session: WriteSession, _ database: Database, _ options: WriteOptions, base: VersionToken?) {
        session.naming = .documents
        self.session = session
        self.database = database
        newest = base ?? (session.hasChanges ? nil : database.current.token)
        var options = options
        options.condition = options.condition.decided(at: newest)
        self.options = options
        self.base = base
    }

    /// Creates a context for a prepared write, whose answer is bounded by the limits `answer-bytes`
    /// and `expanded-objects`. One that is sent takes of the memory for unsent responses before the commit.
    package convenience init(_ session: WriteSession, _ write: PreparedWrite, base: VersionToken?) {
        session.budget.byteLimit = write.call.limits.answerBytes
        session.budget.objectLimit = write.call.limits.expandedObjects
        if !write.isAsynchronous { session.budget.takesRoom = write.call.request.budget.takesRoom }
        if let rights = write.call.writeRights { session.restrict(to: rights) }
        self.init(session, write.database, write.options, base: base)
        scope = write.call.scope
        audit = write.call.audit
    }

    // MARK: - Objects in answers

    /// The facts about an object that a response gives in addition to its representation.
    package struct Shown {
        /// The text of the object's key, as in URLs.
        let key: String
        /// The object's entity tag, in quotes, as it will be after the commit.
        let etag: String
        /// Notes on values that could not be represented exactly: dates cut to milliseconds, integers that JavaScript rounds.
        let notes: RepresentationNotes
    }

    /// Returns the row of an object in a view, with its class.
    ///
    /// - Throws: `object_not_found` when the object does not exist there.
    package func row(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> (row: Row, table: Table) {
        guard let table = view.table(place.table),
            let row = try Problem.stored(table.find(place.object))
        else { throw Problem(.objectNotFound, "the object no longer exists") }
        return (row, table)
    }

    /// Writes an object as JSON, and returns its key and entity tag.
    ///
    /// - Parameters:
    ///   - place: The object, which must exist in `view`.
    ///   - view: The uncommitted state of the transaction, from `view()`.
    ///   - writer: The writer of the response.
    /// - Throws: `object_not_found`, or the problem of a response that exceeds its limits.
    package func show(_ place: ObjectPlace, in view: Snapshot, _ writer: inout JSONWriter) throws(Problem) -> Shown {
        let (row, table) = try row(place, in: view)
        let encoder = ObjectEncoder(view, options.representation, session.budget)
        let plan = try plan(table, in: view)
        return try Problem.mapping { () throws(StorageError) in
            try encoder.write(row, plan, to: &writer)
            return Shown(
                key: try KeyText.text(of: row, in: table), etag: try encoder.entityTag(of: row, in: table), notes: encoder.notes)
        }
    }

    /// Returns whether the sender of the write sees an object, so that a response may show it.
    package func isVisible(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> Bool {
        guard view.scope != nil else { return true }
        guard let table = view.table(place.table) else { return false }
        return try Problem.stored(table.find(place.object) != nil)
    }

    /// Returns the key and entity tag of an object without writing its representation.
    package func identify(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> Shown {
        let (row, table) = try row(place, in: view)
        return try Problem.mapping { () throws(StorageError) in
            let encoder = ObjectEncoder(view, options.representation, session.budget)
            return Shown(
                key: try KeyText.text(of: row, in: table), etag: try encoder.entityTag(of: row, in: table),
                notes: RepresentationNotes())
        }
    }

    /// Returns how whole objects of a class are written.
    ///
    /// Most writes leave the schema as it is, so the plan of the newest version is used when both
    /// have the same schema. Otherwise a new one is made.
    package func plan(_ table: Table, in view: Snapshot) throws(Problem) -> ObjectPlan {
        let version = database.current.shown(by: scope)
        if let known = version.snapshot.table(table.key), view.hasSameSchema(as: version.snapshot) {
            return try PlanCache.of(version).wholeObjects(of: known, in: version.snapshot)
        }
        do throws(ObjectPlanner.UnknownPath) { return try ObjectPlanner(view).plan(table) } catch { throw Problem(error) }
    }

    /// Returns the uncommitted state of the transaction as a snapshot. The session keeps it until the next change.
    package func view() throws(Problem) -> Snapshot { try Problem.written(session.view()) }

    /// Returns the key of an object as text; nil when the object does not exist in `view`.
    package func keyText(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> String? {
        guard let table = view.table(place.table) else { return nil }
        return try Problem.mapping { () throws(StorageError) in
            guard let row = try table.find(place.object) else { return nil }
            return try KeyText.text(of: row, in: table)
        }
    }

    /// Checks that the results of a write may have so many bytes together.
    ///
    /// - Throws: `answer_too_large`, or `overloaded` or `rate_limited` while others use the memory for responses. Nothing is written
    ///   then.
    package func requireRoom(for count: Int) throws(Problem) {
        try Problem.stored(session.budget.requireRoom(for: count))
    }

    // MARK: - Conditions

    /// Throws `precondition_failed` unless the conditions on an object hold, and the one on the version inside a transaction or
    /// in an operation of a batch.
    ///
    /// The problem has the member `current`: the object as it is, or null when there is none.
    ///
    /// - Parameters:
    ///   - condition: The conditions of the request or the operation.
    ///   - place: The object; nil when there is none.
    ///   - input: The place of the operation in a batch; nil for a separate request.
    package func check(
        _ condition: WriteCondition, _ place: ObjectPlace?, at input: InputPlace? = nil
    ) throws(Problem) {
        let condition = condition.decided(at: newest)
        // The condition of a request outside of transactions is left to the queue of writes.
        if let wanted = condition.version, base != nil || input != nil, wanted != newest {
            throw input.map { $0.describe(WriteCondition.stale, hasPointer: false) } ?? WriteCondition.stale
        }
        guard condition.concernsObject else { return }
        let view = try view()
        let seen = try place.flatMap { place throws(Problem) in try isVisible(place, in: view) ? place : nil }
        let state = try seen.map { place throws(Problem) in WriteCondition.state(ofTag: try identify(place, in: view).etag) }
        guard !condition.holds(state) else { return }
        var problem = Problem(.preconditionFailed, "the object is not in the state that the request was made for")
        problem = problem.with("current", .json(try document(seen, in: view)))
        throw input.map { $0.describe(problem, hasPointer: false) } ?? problem
    }

    /// Returns an object as a JSON document; the text `null` when there is none.
    package func document(_ place: ObjectPlace?, in view: Snapshot) throws(Problem) -> [UInt8] {
        guard let place else { return Array("null".utf8) }
        var writer = JSONWriter()
        _ = try show(place, in: view, &writer)
        return writer.bytes
    }
}
