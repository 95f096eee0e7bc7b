// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// What was written between two versions, and what that changes, worked out the simple way: from each object forwards.
struct ObservationModel {
    let from: Snapshot
    let to: Snapshot
    let written: ChangeSummary

    private func changes(_ table: TableKey) -> ChangeSummary.TableChanges? { written.tables[table] }

    private func isWritten(_ key: ObjectKey, in table: TableKey) -> Bool { changes(table)?.modified[key] != nil }

    private func isWritten(_ key: ObjectKey, _ column: ColumnKey, in table: TableKey) -> Bool {
        changes(table)?.modified[key]?.contains { $0.leafIndex == column.leafIndex } == true
    }

    /// Written itself, or linked over at most three links to one that is.
    func isAffected(_ key: ObjectKey, in table: TableKey, links: Int = 3) throws -> Bool {
        if isWritten(key, in: table) { return true }
        guard links > 0, let owner = to.table(table), let row = try owner.find(key) else { return false }
        for column in owner.columns {
            for (target, object) in try ObservationModel.targets(row, column, to) {
                if try isAffected(object, in: target, links: links - 1) { return true }
            }
        }
        return false
    }

    /// Whether a key path leads to a change.
    func isHit(_ key: ObjectKey, _ chain: ArraySlice<KeyPathFilter.Step>) throws -> Bool {
        guard let step = chain.first else { return false }
        switch step {
        case .property(let table, let column):
            if isWritten(key, column, in: table) { return true }
            guard let owner = to.table(table), let row = try owner.find(key), let property = owner.column(column) else {
                return false
            }
            for (_, object) in try ObservationModel.targets(row, property, to) where try isHit(object, chain.dropFirst()) {
                return true
            }
            return false
        case .linkingObjects(let target, let origin, let column):
            let isEnd = chain.count == 1
            let now = try ObservationModel.origins(key, target, origin, column, to)
            for object in now {
                if changes(origin)?.inserted.contains(object) == true || isEnd && isWritten(object, column, in: origin) {
                    return true
                }
                if try isHit(object, chain.dropFirst()) { return true }
            }
            // Those that link no more; where they were written they may have linked several times.
            let before = try ObservationModel.origins(key, target, origin, column, from)
            return before.contains { !now.contains($0) || isEnd && isWritten($0, column, in: origin) }
        }
    }

    static func targets(_ row: Row, _ column: Column, _ snapshot: Snapshot) throws -> [(TableKey, ObjectKey)] {
        var values: [Value] = []
        switch column.collection {
        case nil: values = [try row.value(column)]
        case .list, .set:
            var elements = try row.list(column, in: snapshot).elements()
            while let value = try elements.next() { values.append(value) }
        case .dictionary:
            var entries = try row.dictionary(column, in: snapshot).entries()
            while let entry = try entries.next() { values.append(entry.value) }
        }
        return try values.flatMap { try links(in: $0, snapshot) }
    }

    private static func links(in value: Value, _ snapshot: Snapshot) throws -> [(TableKey, ObjectKey)] {
        switch value {
        case .link(let table, let key): return [(table, key)]
        case .list(let root):
            let list = try ListView(nested: root, space: snapshot.space)
            return try (0..<list.count).flatMap { try links(in: try list.value(at: $0), snapshot) }
        case .dictionary(let root):
            let entries = try DictionaryView(root: root, space: snapshot.space)
            return try (0..<entries.count).flatMap { try links(in: try entries.value(at: $0), snapshot) }
        default: return []
        }
    }

    private static func origins(
        _ key: ObjectKey, _ target: TableKey, _ origin: TableKey, _ column: ColumnKey, _ snapshot: Snapshot
    ) throws -> [ObjectKey] {
        guard let table = snapshot.table(target), let row = try table.find(key),
            let records = table.backlinks.first(where: {
                $0.targetTable == origin && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return [] }
        return try row.leaf.backlinks(records, row: row.index).keys()
    }
}

/// Keeps the changes of all commits.
final class CommitRecorder: Sendable {
    private let commits = Mutex<[Commit]>([])

    init(_ database: Database) {
        _ = database.commits.add { [weak self] commit in self?.commits.withLock { $0.append(commit) } }
    }

    func changes(after version: UInt64, upTo end: UInt64) -> ChangeSummary {
        ChangeSummary(
            commits.withLock { commits in
                commits.filter { $0.version.token.version > version && $0.version.token.version <= end }.flatMap(\.changes)
            })
    }
}
