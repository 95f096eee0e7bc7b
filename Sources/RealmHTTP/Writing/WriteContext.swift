// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// A write that is running: its session, and what answers are made with.
///
/// Belongs to the writer's thread for the time of one closure.
final class WriteContext {
    let session: WriteSession
    let database: Database
    let options: WriteOptions
    /// The version that an interactive transaction began from; nil outside one.
    let base: VersionToken?

    init(_ session: WriteSession, _ database: Database, _ options: WriteOptions, base: VersionToken?) {
        session.naming = .documents
        self.session = session
        self.database = database
        self.options = options
        self.base = base
    }

    /// The same with the bounds that answers have.
    convenience init(_ session: WriteSession, _ write: PreparedWrite, base: VersionToken?) {
        session.budget.byteLimit = write.call.limits.answerBytes
        session.budget.objectLimit = write.call.limits.expandedObjects
        self.init(session, write.database, write.options, base: base)
    }

    // MARK: - Objects in answers

    /// An object as answers show it.
    struct Shown {
        let key: String
        let etag: String
        let notes: RepresentationNotes
    }

    /// Finds an object as it is now. It has to be there.
    func row(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> (row: Row, table: Table) {
        guard let table = view.table(place.table),
            let row = try Problem.mapping({ () throws(StorageError) in try table.find(place.object) })
        else { throw Problem(.objectNotFound, "the object is gone") }
        return (row, table)
    }

    /// The key and entity tag of an object.
    func shown(_ place: ObjectPlace, writingTo writer: inout JSONWriter) throws(Problem) -> Shown {
        try show(place, in: try view(), &writer)
    }

    /// Writes an object, and tells its key and entity tag.
    func show(_ place: ObjectPlace, in view: Snapshot, _ writer: inout JSONWriter) throws(Problem) -> Shown {
        let (row, table) = try row(place, in: view)
        let encoder = ObjectEncoder(view, options.representation, session.budget)
        let plan = try plan(table, in: view)
        return try Problem.mapping { () throws(StorageError) in
            try encoder.write(row, plan, to: &writer)
            return Shown(
                key: try KeyText.text(of: row, in: table), etag: try encoder.entityTag(of: row, in: table), notes: encoder.notes)
        }
    }

    /// The key and entity tag of an object that is not written.
    func identify(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> Shown {
        let (row, table) = try row(place, in: view)
        return try Problem.mapping { () throws(StorageError) in
            let encoder = ObjectEncoder(view, options.representation, session.budget)
            return Shown(
                key: try KeyText.text(of: row, in: table), etag: try encoder.entityTag(of: row, in: table),
                notes: RepresentationNotes())
        }
    }

    /// How whole objects are shown. A write seldom changes the schema, so most plans are those of the newest version.
    func plan(_ table: Table, in view: Snapshot) throws(Problem) -> ObjectPlan {
        let version = database.current
        if let known = version.snapshot.table(table.key), view.hasSameSchema(as: version.snapshot) {
            return try PlanCache.of(version).wholeObjects(of: known, in: version.snapshot)
        }
        do throws(ObjectPlanner.UnknownPath) { return try ObjectPlanner(view).plan(table) } catch { throw Problem(error) }
    }

    func view() throws(Problem) -> Snapshot { try Problem.writing { () throws(WriteError) in try session.view() } }

    /// The key of an object as text.
    func keyText(_ place: ObjectPlace, in view: Snapshot) throws(Problem) -> String? {
        guard let table = view.table(place.table) else { return nil }
        return try Problem.mapping { () throws(StorageError) in
            guard let row = try table.find(place.object) else { return nil }
            return try KeyText.text(of: row, in: table)
        }
    }

    // MARK: - Conditions

    /// Throws `precondition_failed`, with the object as it is, unless what the request asks of it holds.
    func check(
        _ condition: WriteCondition, _ place: ObjectPlace?, at input: InputPlace? = nil
    ) throws(Problem) {
        try checkBase(condition)
        guard condition.concernsObject else { return }
        let view = try view()
        let state = try place.map { place throws(Problem) in WriteCondition.state(ofTag: try identify(place, in: view).etag) }
        guard !condition.holds(state) else { return }
        var problem = Problem(.preconditionFailed, "the object is not in the state that the request was made for")
        problem = problem.with("current", .json(try document(place, in: view)))
        throw input.map { $0.describe(problem, hasPointer: false) } ?? problem
    }

    /// Inside a transaction, the version it began from is the newest; elsewhere the queue compares.
    private func checkBase(_ condition: WriteCondition) throws(Problem) {
        guard let base, let wanted = condition.version, wanted != base else { return }
        throw Problem(.preconditionFailed, "the realm has another version than the request was made for")
    }

    /// The object as a document; `null` when there is none.
    func document(_ place: ObjectPlace?, in view: Snapshot) throws(Problem) -> [UInt8] {
        guard let place else { return Array("null".utf8) }
        var writer = JSONWriter()
        _ = try show(place, in: view, &writer)
        return writer.bytes
    }
}
