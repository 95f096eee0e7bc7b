// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The part of a version that a snapshot shows: some of its classes.
package struct SnapshotPart: Sendable {
    /// The version with all of its tables, which is kept as long as its part.
    package let whole: Snapshot
    package let shown: Set<TableKey>
    /// Shown classes whose objects also belong to objects of other classes: embedded classes shared with a hidden class. Their
    /// objects are only read inside of the objects that own them.
    package let shared: Set<TableKey>

    /// Chooses the tables of a part.
    ///
    /// - Parameters:
    ///   - whole: The version that has them.
    package init(showing shown: Set<TableKey>, of whole: Snapshot) {
        self.whole = whole
        self.shown = shown
        let embedded = whole.classes.lazy.filter { $0.kind == .embedded && shown.contains($0.key) }
        shared = Set(embedded.filter { $0.backlinks.contains { SnapshotPart.leadsOut($0, shown) } }.map(\.key))
    }

    /// Makes the same part of a version with the same schema.
    package init(_ other: SnapshotPart, of whole: Snapshot) {
        self.whole = whole
        shown = other.shown
        shared = other.shared
    }

    /// Returns whether the links of a backlink column come from a class whose objects are all shown.
    func listsLinks(_ backlinks: Column) -> Bool {
        backlinks.targetTable.map { shown.contains($0) && !shared.contains($0) } ?? false
    }

    /// Returns whether the links of a backlink column come from a class that is not shown.
    private static func leadsOut(_ backlinks: Column, _ shown: Set<TableKey>) -> Bool {
        backlinks.targetTable.map { !shown.contains($0) } ?? false
    }
}

extension Snapshot {
    /// The version with all of its classes: the one that this is a part of, or this one.
    package var whole: Snapshot { scope?.base.whole ?? part?.whole ?? self }

    /// Returns whether a class of the version is left out of this part of it. Links to its objects are shown
    /// without anything about them.
    package func hides(_ key: TableKey) -> Bool {
        guard let part, table(key) == nil else { return false }
        return part.whole.table(key) != nil
    }

    /// A placeholder for all links to objects outside this part, where links are compared; nil for a whole version.
    package var hiddenLink: Value? {
        guard let part, let table = part.whole.classes.first(where: { !part.shown.contains($0.key) }) else { return nil }
        return .link(table.key, ObjectKey(0))
    }

    /// Returns the table that the links of a column lead to; nil when there is none.
    ///
    /// For a class that is left out of this part of the version it is a table without properties: links to it can be
    /// counted and compared, but no path leads on from there.
    package func linkTarget(_ key: TableKey) -> Table? { table(key) ?? part?.whole.table(key).map { Table(hiding: $0) } }

    /// Returns whether lists of links to a table may hold some that are left out: unresolved ones, because it has or had
    /// tombstones, and those to objects that are not shown.
    package func hasTombstones(_ key: TableKey) -> Bool {
        if space.mayHideLinks(to: key) { return true }
        return (table(key) ?? part?.whole.table(key))?.hasTombstones ?? false
    }
}
