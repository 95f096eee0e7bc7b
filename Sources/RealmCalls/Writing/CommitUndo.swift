// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Undoes a commit: objects that it added are deleted, those that it removed are made again, and changed properties get the
/// values that they had before. A later change of one of these objects is a conflict, and nothing is written then.
package struct CommitUndo: Sendable {
    /// The most objects that a commit to undo may have changed.
    private static let mostChanges = 100_000
    /// The most objects that may have changed since.
    private static let mostLaterChanges = 1_000_000
    /// The most objects that a problem names.
    private static let mostNamed = 100

    /// The name of the version that the commit made.
    private let name: VersionName

    /// Makes the undoing of the commit that made a version.
    package init(_ name: VersionName) { self.name = name }

    /// Writes the inverse of the commit into the transaction of a write.
    ///
    /// - Throws: `version_not_found`, `conflict` with the objects, or `too_many_affected`.
    package func run(_ context: WriteContext) throws(Problem) -> WriteDraft {
        let (database, session) = (context.database, context.session)
        let after = try name.version(of: database)
        let number = after.token.version
        let before = try VersionName.number(number - 1).version(of: database)
        let budget = session.budget
        let commit = try CommitDifference(
            from: before.snapshot, to: after.snapshot, limit: CommitUndo.mostChanges, budget)
        guard !commit.hasSchemaChanges else { throw Problem(.conflict, "the commit changed the schema") }
        let view = try context.view()
        let later = try CommitDifference(from: after.snapshot, to: view, limit: CommitUndo.mostLaterChanges, budget)
        guard !later.hasSchemaChanges else { throw Problem(.conflict, "a later commit changed the schema") }
        let touched = Touched(commit, later)
        var conflicts = touched.both
        for change in commit.changes where change.old == nil {
            try Problem.mapping { () throws(StorageError) in
                conflicts += try touched.laterOwners(ofLinksTo: change, in: after.snapshot, view, budget)
            }
        }
        guard conflicts.isEmpty else { throw CommitUndo.conflict(conflicts) }
        let missing = try Problem.mapping { () throws(StorageError) in
            try CommitUndo.write(commit, from: before.snapshot, to: after.snapshot, session)
        }
        guard missing.isEmpty else { throw CommitUndo.conflict(missing) }
        try Problem.written(session.checkDeadline())
        return CommitUndo.draft(commit, number)
    }

    /// Writes the inverse of all changes, and returns the objects that links should lead to and that are gone.
    private static func write(
        _ commit: CommitDifference, from before: Snapshot, to after: Snapshot, _ session: WriteSession
    ) throws(StorageError) -> [TouchedObject] {
        let values = FormerValues(of: before, session)
        for change in commit.changes {
            guard change.old == nil, let row = change.new, let table = after.classTable(named: change.className) else { continue }
            guard let key = try presentKey(row, table, session) else { continue }
            try session.storage.deleteObject(key.object, in: key.table)
        }
        for change in commit.changes where change.new == nil {
            guard let row = change.old, let table = before.classTable(named: change.className) else { continue }
            try values.make(row, of: table)
        }
        for change in commit.changes {
            guard let row = change.old, let table = before.classTable(named: change.className) else { continue }
            guard let present = change.new else {
                try values.write(table.columns.map(\.name), of: row, table, to: nil)
                continue
            }
            guard let newTable = after.classTable(named: change.className),
                let key = try presentKey(present, newTable, session)
            else { continue }
            try values.write(change.properties, of: row, table, to: key.object)
        }
        return try values.missing.map { one throws(StorageError) in
            guard let table = before.table(one.table), let row = try table.find(one.object) else {
                return TouchedObject(className: "", key: "")
            }
            return TouchedObject(className: table.className ?? "", key: try KeyText.text(of: row, in: table))
        }
    }

    /// Returns the present place of an object that has not changed since a version; nil when it is gone.
    private static func presentKey(
        _ row: Row, _ table: Table, _ session: WriteSession
    ) throws(StorageError) -> (table: TableKey, object: ObjectKey)? {
        guard let state = try session.storage.table(named: table.name) else { return nil }
        if let column = table.primaryKey {
            return try session.storage.findByPrimaryKey(try row.value(column), in: state.key).map { (state.key, $0) }
        }
        return try session.storage.row(row.key, in: state.key).map { (state.key, $0.key) }
    }

    private static func conflict(_ objects: [TouchedObject]) -> Problem {
        let named = Set(objects).sorted { ($0.className, $0.key) < ($1.className, $1.key) }
        var writer = JSONWriter()
        writer.beginArray()
        for one in named.prefix(mostNamed) {
            writer.beginObject()
            writer.member("class", text: one.className)
            writer.member("key", text: one.key)
            writer.endObject()
        }
        writer.endArray()
        return Problem(.conflict, "later commits have changed \(named.count) objects that the undo would change")
            .with("objects", .json(writer.bytes)).with("count", .integer(Int64(named.count)))
    }

    private static func draft(_ commit: CommitDifference, _ number: UInt64) -> WriteDraft {
        let writer = JSONWriter()
        writer.buffer.append("\"undone\":\(number)")
        for (name, count) in [
            ("restored", commit.changes.count { $0.new == nil }), ("removed", commit.changes.count { $0.old == nil }),
            ("reverted", commit.changes.count { $0.old != nil && $0.new != nil }),
        ] {
            writer.buffer.append(",\"\(name)\":\(count)")
        }
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }
}

/// An object by its class and key.
struct TouchedObject: Hashable {
    let className: String
    let key: String

    static func == (left: TouchedObject, right: TouchedObject) -> Bool {
        left.className == right.className && left.key == right.key
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ByteText(className))
        hasher.combine(ByteText(key))
    }
}

/// The objects that a commit changed, and those that later ones did.
private struct Touched {
    private let commit: Set<TouchedObject>
    private let later: Set<TouchedObject>

    init(_ commit: CommitDifference, _ later: CommitDifference) {
        self.commit = Set(commit.changes.map { TouchedObject(className: $0.className, key: $0.key) })
        self.later = Set(later.changes.map { TouchedObject(className: $0.className, key: $0.key) })
    }

    /// The objects that both have changed.
    var both: [TouchedObject] { Array(commit.intersection(later)) }

    /// Returns the objects that later commits have linked to an object which the commit added.
    func laterOwners(
        ofLinksTo change: CommitDifference.Change, in after: Snapshot, _ view: Snapshot, _ budget: WorkBudget
    ) throws(StorageError) -> [TouchedObject] {
        guard !later.isEmpty, let added = change.new, let table = view.classTable(named: change.className),
            let row = try table.find(added.key)
        else { return [] }
        return try owners(of: row, in: table, view, budget, depth: 0).filter { later.contains($0) && !commit.contains($0) }
    }

    /// Returns the top-level objects that link to an object, also by their embedded objects.
    private func owners(
        of row: Row, in table: Table, _ view: Snapshot, _ budget: WorkBudget, depth: Int
    ) throws(StorageError) -> [TouchedObject] {
        guard depth < 128 else { throw .limit("embedded objects are nested too deeply") }
        var found: [TouchedObject] = []
        for column in table.backlinks {
            guard let origin = column.targetTable.flatMap({ view.table($0) }) else { continue }
            for key in try row.leaf.backlinks(column, row: row.index).keys() {
                try budget.spend()
                guard let owner = try origin.find(key) else { continue }
                if origin.kind == .embedded {
                    found += try owners(of: owner, in: origin, view, budget, depth: depth + 1)
                } else {
                    found.append(TouchedObject(className: origin.className ?? "", key: try KeyText.text(of: owner, in: origin)))
                }
            }
        }
        return found
    }
}
