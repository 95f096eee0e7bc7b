// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// A copy of one target, kept up to date by change sets and compared with the model and with a fresh read.
final class ObservationReplay {
    let target: ObservedTarget
    let observed: Observed
    private let label: String
    private let database: Database
    /// What the listener may see; nil for everything. What counts as modified is compared for those alone who see everything.
    private let scope: (any VersionScope)?
    private var version: Version
    private var copy: Copy

    enum Copy: Equatable {
        case rows([ObjectKey])
        case values([String])
        case entries([String: String])
        case sections([SectionCopy])
        case object
        case gone
    }

    struct SectionCopy: Equatable {
        let key: SectionIdentity
        var rows: [ObjectKey]
    }

    init(
        _ target: ObservedTarget, in database: Database, isActive: Bool, scope: (any VersionScope)? = nil,
        threads: [EvaluationThread] = [], meanwhile: (() throws -> Void)? = nil
    ) throws {
        self.target = ObservedTarget(target.kind, filter: target.filter, identity: target.identity + (isActive ? " active" : ""))
        self.database = database
        self.scope = scope
        label = self.target.identity
        observed = try Observed(
            self.target, in: database, isActive: isActive, scope: scope, threads: threads, meanwhile: meanwhile)
        version = observed.attached.version
        copy = .gone
        copy = try read(observed.attached.contents, version.snapshot)
    }

    /// Brings the copy up to date. Returns what is wrong.
    func step(_ recorder: CommitRecorder) throws -> [String] {
        var failures: [String] = []
        for event in try observed.events() {
            if event.from.token.version < version.token.version { failures.append("\(label): an event goes back") }
            let before = copy
            try apply(event)
            if scope == nil {
                failures += try check(event, before, recorder).map {
                    "\(label) \(event.from.token.version)→\(event.to.token.version): \($0)"
                }
            } else if case .unknown = event.change {
                return ["\(label): what happened is not known"]
            }
            version = event.to
        }
        let fresh = try read(try observed.contents(), newest)
        if fresh != copy { failures.append("\(label): \(copy) instead of \(fresh)") }
        failures += try checkQuery()
        return failures
    }

    /// The newest version as the listener sees it.
    private var newest: Snapshot { database.current.shown(by: scope).snapshot }

    // MARK: - Reading

    private func read(_ contents: ObservedContents, _ snapshot: Snapshot) throws -> Copy {
        switch contents {
        case .rows(_, let keys): return .rows(keys)
        case .sections(_, let sections): return .sections(sections.map { SectionCopy(key: $0.key, rows: $0.rows) })
        case .object: return .object
        case .gone: return .gone
        case .realm: return .object
        case .values(_, let places):
            let values = try values(snapshot)
            return .values((places ?? Array(values.indices)).map { values[$0] })
        case .dictionary:
            let (row, column) = try owner(snapshot)
            var entries: [String: String] = [:]
            var cursor = try row.dictionary(column, in: snapshot).entries()
            while let entry = try cursor.next() { entries[entry.key.bytes.string] = try text(entry.value, snapshot) }
            return .entries(entries)
        }
    }

    private func owner(_ snapshot: Snapshot) throws -> (Row, Column) {
        let property: ObservedProperty
        switch target.kind {
        case .collection(let one), .view(let one, _): property = one
        default: throw Unreadable()
        }
        guard let table = snapshot.table(property.object.table), let row = try table.find(property.object.key),
            let column = table.column(property.column)
        else { throw Unreadable() }
        return (row, column)
    }

    struct Unreadable: Error {}

    private func values(_ snapshot: Snapshot) throws -> [String] {
        let (row, column) = try owner(snapshot)
        var values: [String] = []
        var elements = try row.list(column, in: snapshot).elements()
        while let value = try elements.next() { values.append(try text(value, snapshot)) }
        return values
    }

    /// Collections in Mixed by what they hold: their place in the file means nothing.
    private func text(_ value: Value, _ snapshot: Snapshot) throws -> String {
        switch value {
        case .list(let root):
            let list = try ListView(nested: root, space: snapshot.space)
            return "\(try (0..<list.count).map { try text(try list.value(at: $0), snapshot) })"
        case .dictionary(let root):
            let entries = try DictionaryView(root: root, space: snapshot.space)
            return "\(try (0..<entries.count).map { try text(try entries.value(at: $0), snapshot) })"
        case .link(let table, let key): return "\(table.rawValue)#\(key.rawValue)"
        default: return "\(value)"
        }
    }

    // MARK: - Applying

    private func apply(_ event: ObservationEvent) throws {
        switch event.change {
        case .rows(let rows): try apply(rows)
        case .values(let change): try apply(change, event.to.snapshot)
        case .dictionary(let change): try apply(change, event.to.snapshot)
        case .sections(let change): apply(change)
        case .objectDeleted: copy = .gone
        case .object, .realm, .unknown: break
        }
    }

    private func apply(_ change: RowsChange) throws {
        guard case .rows(var keys) = copy else { throw Unreadable() }
        let changes = change.changes
        for index in changes.deletions.reversed() { keys.remove(at: index) }
        for (index, key) in zip(changes.insertions, change.insertedKeys) { keys.insert(key, at: index) }
        for (index, key) in zip(changes.modificationsNew, change.modifiedKeys) { keys[index] = key }
        copy = changes.isRootDeleted ? .gone : .rows(keys)
    }

    private func apply(_ change: ObservedChange.Values, _ snapshot: Snapshot) throws {
        guard case .values(var copies) = copy else { throw Unreadable() }
        if change.changes.isRootDeleted {
            copy = .gone
            return
        }
        let values = try values(snapshot)
        for index in change.changes.deletions.reversed() { copies.remove(at: index) }
        for (index, place) in zip(change.changes.insertions, change.insertedPlaces) { copies.insert(values[place], at: index) }
        for (index, place) in zip(change.changes.modificationsNew, change.modifiedPlaces) { copies[index] = values[place] }
        copy = .values(copies)
    }

    private func apply(_ change: DictionaryChange, _ snapshot: Snapshot) throws {
        guard case .entries(var entries) = copy else { throw Unreadable() }
        if change.isRootDeleted {
            copy = .gone
            return
        }
        let (row, column) = try owner(snapshot)
        let dictionary = try row.dictionary(column, in: snapshot)
        for key in change.deleted { entries[key.bytes.string] = nil }
        for (key, place) in zip(change.inserted + change.modified, change.insertedPlaces + change.modifiedPlaces) {
            entries[key.bytes.string] = try text(try dictionary.value(at: place), snapshot)
        }
        copy = .entries(entries)
    }

    private func apply(_ change: SectionedChange) {
        guard case .sections(var sections) = copy else { return }
        let changes = change.changes
        for place in changes.deletions.reversed() { sections[place.section].rows.remove(at: place.row) }
        for section in changes.sectionsToDelete.reversed() { sections.remove(at: section) }
        for (section, key) in zip(changes.sectionsToInsert, change.insertedSections) {
            sections.insert(SectionCopy(key: key, rows: []), at: section)
        }
        for (place, key) in zip(changes.insertions, change.insertedKeys) {
            sections[place.section].rows.insert(key, at: place.row)
        }
        for (modification, key) in zip(changes.modifications, change.modifiedKeys) {
            sections[modification.new.section].rows[modification.new.row] = key
        }
        copy = .sections(sections)
    }

    // MARK: - Checking

    private func check(_ event: ObservationEvent, _ before: Copy, _ recorder: CommitRecorder) throws -> [String] {
        let model = ObservationModel(
            from: event.from.snapshot, to: event.to.snapshot,
            written: recorder.changes(after: event.from.token.version, upTo: event.to.token.version))
        switch event.change {
        case .rows(let change): return try check(change, before, model)
        case .object(let steps): return try check(steps, model)
        case .unknown: return ["what happened is not known"]
        default: return []
        }
    }

    private func isModified(_ key: ObjectKey, _ table: TableKey, _ model: ObservationModel) throws -> Bool {
        switch target.filter {
        case .shallow: return false
        case .all: return try model.isAffected(key, in: table)
        case .keyPaths(let filter): return try filter.chains.contains { try model.isHit(key, $0[...]) }
        }
    }

    /// Results are exactly the direct difference; of lists only what the elements do is compared.
    private func check(_ change: RowsChange, _ before: Copy, _ model: ObservationModel) throws -> [String] {
        guard case .rows(let old) = before, case .rows(let new) = copy else { return [] }
        let modified = try new.map { try isModified($0, change.table, model) }
        if case .collection = target.kind {
            let inserted = Set(change.changes.insertions)
            let told = Set(change.changes.modificationsNew)
            return new.indices.filter { modified[$0] && !inserted.contains($0) && !told.contains($0) }.map {
                "the modified element \($0) is not told"
            }
        }
        let expected = SequenceDiff.changes(
            from: old.map(\.rawValue), to: new.map(\.rawValue), isModified: { modified[$0] }, canReorder: true)
        guard !change.changes.isRootDeleted, expected != change.changes else { return [] }
        return ["\(change.changes) instead of \(expected)"]
    }

    private func check(_ steps: [KeyPathFilter.Step], _ model: ObservationModel) throws -> [String] {
        guard case .object(let object) = target.kind, case .keyPaths(let filter) = target.filter else { return [] }
        var expected: Set<KeyPathFilter.Step> = []
        for chain in filter.chains where try model.isHit(object.key, chain[...]) {
            if let first = chain.first { expected.insert(first) }
        }
        return Set(steps) == expected ? [] : ["\(steps) instead of \(expected)"]
    }

    /// The rows of a result are those that its query finds.
    private func checkQuery() throws -> [String] {
        guard case .results(let key, let query) = target.kind, case .rows(let rows) = copy else { return [] }
        let snapshot = newest
        guard let table = snapshot.table(key) else { return ["no table"] }
        let found = try query.query.bind(
            to: table, in: snapshot, arguments: query.arguments, mapping: database.backlinkNames.mapping, order: query.order
        ).execute(ResultWindow(limit: query.limit))
        return found == rows ? [] : ["\(label): \(rows) where the query finds \(found)"]
    }
}
