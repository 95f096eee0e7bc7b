// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The part of a version that restricted users may see: some classes, some of their properties, and the objects that match a
/// rule.
///
/// Rules are evaluated on the version as it is, whatever they lead to; everything else reads the view that
/// `Snapshot(_:)` makes of the scope.
package struct SnapshotScope: Sendable {
    /// The visible part of one class.
    package struct Shown: Sendable {
        /// The properties that are not shown, by the numbers of their columns in leaves.
        let hidden: Set<Int>
        /// Makes the rule for the objects that are shown, for one view; nil when all objects are shown.
        let rule: (@Sendable (_ table: Table, _ base: Snapshot) -> ObjectRule)?

        /// Chooses what is shown of a class.
        ///
        /// - Parameters:
        ///   - hidden: The properties that are not shown.
        ///   - rule: Makes the rule for the objects that are shown, from the class and the version that has all of it;
        ///     nil when all objects are shown.
        package init(hidden: [Column] = [], rule: (@Sendable (_ table: Table, _ base: Snapshot) -> ObjectRule)? = nil) {
            self.hidden = Set(hidden.map(\.leafIndex))
            self.rule = rule
        }
    }

    /// The version with all of its objects, which is kept as long as the view.
    package let base: Snapshot
    private let shown: [TableKey: Shown]
    /// The embedded classes of which some objects belong to something that is not shown.
    let inner: Set<TableKey>

    /// Chooses what is shown of a version.
    ///
    /// Properties that link to a class that is not shown are not shown either. Embedded classes are shown as far as
    /// properties that are shown lead to them, with the properties that `shown` leaves them.
    ///
    /// - Parameters:
    ///   - base: The version.
    package init(showing shown: [TableKey: Shown], of base: Snapshot) {
        self.base = base
        let shown = SnapshotScope.reachable(shown, base)
        self.shown = shown
        inner = SnapshotScope.innerClasses(shown, base)
    }

    /// Returns what is shown, with the embedded classes that can be reached and without those that cannot.
    private static func reachable(_ wanted: [TableKey: Shown], _ base: Snapshot) -> [TableKey: Shown] {
        var result: [TableKey: Shown] = [:]
        var waiting = base.classes.filter { $0.kind != .embedded && wanted[$0.key] != nil }
        while let table = waiting.popLast() {
            guard result[table.key] == nil else { continue }
            let shown = wanted[table.key] ?? Shown()
            result[table.key] = shown
            for column in table.columns where !shown.hidden.contains(column.leafIndex) {
                if let target = column.targetTable.flatMap({ base.table($0) }), target.kind == .embedded {
                    waiting.append(target)
                }
            }
        }
        return result
    }

    /// Returns the embedded classes of which some objects belong to a class, a property or an object that is not shown.
    private static func innerClasses(_ shown: [TableKey: Shown], _ base: Snapshot) -> Set<TableKey> {
        var inner: Set<TableKey> = []
        let embedded = base.classes.filter { $0.kind == .embedded }
        var before = -1
        // A class embedded in such a class is one as well, so this continues until nothing is added.
        while before != inner.count {
            before = inner.count
            for table in embedded where !inner.contains(table.key) {
                let isWhole = table.backlinks.allSatisfy { owners in
                    guard let origin = owners.targetTable, let property = owners.oppositeColumn, let of = shown[origin] else {
                        return false
                    }
                    return of.rule == nil && !of.hidden.contains(property.leafIndex) && !inner.contains(origin)
                }
                if !isWhole { inner.insert(table.key) }
            }
        }
        return inner
    }

    func rules() -> [TableKey: ObjectRule] {
        var rules: [TableKey: ObjectRule] = [:]
        for table in base.classes {
            if let rule = shown[table.key]?.rule { rules[table.key] = rule(table, base) }
        }
        return rules
    }

    /// Makes the rules of the embedded classes of which some objects are not shown.
    func ownerRules(_ rules: [TableKey: ObjectRule]) -> [TableKey: ObjectRule] {
        var result: [TableKey: ObjectRule] = [:]
        for key in inner where shown[key] != nil {
            result[key] = ObjectRule(SnapshotScope.Owner(rules: owners(of: key).compactMap { rules[$0] }), in: base.space) {
                row throws(StorageError) in try shows(row, of: key, rules, depth: 0)
            }
        }
        return result
    }

    /// Returns the classes with objects that hold embedded ones of a class, also those that do through others.
    private func owners(of embedded: TableKey) -> Set<TableKey> {
        var owners: Set<TableKey> = []
        var waiting = [embedded]
        while let table = waiting.popLast().flatMap({ base.table($0) }) {
            for origin in table.backlinks.filter(listsLinks).compactMap(\.targetTable) where owners.insert(origin).inserted {
                if inner.contains(origin) { waiting.append(origin) }
            }
        }
        return owners
    }

    /// Makes the filter of links to objects that are not shown.
    func linkFilter(_ rules: [TableKey: ObjectRule]) -> LinkFilter {
        let open = Set(shown.keys.filter { rules[$0] == nil && !inner.contains($0) })
        return LinkFilter(open: open) { table, key throws(StorageError) in try shows(key, of: table, rules, depth: 0) }
    }

    /// The maximum nesting of embedded objects. In a damaged file they may form a cycle.
    private static let depthLimit = 100

    /// Returns whether an object is shown: a top-level one by the rule of its class, an embedded one when it belongs to one that is
    /// shown, through a property that is shown.
    private func shows(
        _ key: ObjectKey, of table: TableKey, _ rules: [TableKey: ObjectRule], depth: Int
    ) throws(StorageError) -> Bool {
        guard shown[table] != nil, let row = try base.table(table)?.find(key) else { return false }
        return try shows(row, of: table, rules, depth: depth)
    }

    /// Returns whether an object of a table that is shown is shown itself.
    private func shows(
        _ row: Row, of table: TableKey, _ rules: [TableKey: ObjectRule], depth: Int
    ) throws(StorageError) -> Bool {
        guard inner.contains(table) else { return try rules[table]?.shows(row) ?? true }
        guard depth < SnapshotScope.depthLimit, let of = base.table(table) else { return false }
        for owners in of.backlinks where listsLinks(owners) {
            guard let origin = owners.targetTable else { continue }
            for owner in try row.leaf.backlinks(owners, row: row.index).keys() {
                if try shows(owner, of: origin, rules, depth: depth + 1) { return true }
            }
        }
        return false
    }

    /// Returns a table as the view shows it; nil when it does not.
    func shown(_ table: Table, in space: NodeSpace, _ rule: ObjectRule?) -> Table? {
        guard table.className != nil else { return table }
        guard let shown = shown[table.key] else { return nil }
        return Table(
            table, in: space, columns: table.columns.filter { isShown($0, shown) }, backlinks: table.backlinks.filter(listsLinks),
            rule: rule)
    }

    /// Returns whether a property of a class is shown.
    private func isShown(_ column: Column, _ shown: Shown) -> Bool {
        guard !shown.hidden.contains(column.leafIndex) else { return false }
        return column.type != .link || column.targetTable.map { self.shown[$0] != nil } ?? false
    }

    /// Returns whether the links of a backlink column come from a property that is shown.
    private func listsLinks(_ backlinks: Column) -> Bool {
        guard let origin = backlinks.targetTable, let shown = shown[origin] else { return false }
        return backlinks.oppositeColumn.map { !shown.hidden.contains($0.leafIndex) } ?? false
    }
}

extension SnapshotScope {
    /// The rule of an embedded class of which some objects are not shown: an object is shown if one of its owners is, through a
    /// property that is shown.
    package struct Owner: Sendable {
        /// The rules of the classes with objects that own some of the class, also through others, as far as they have one.
        package let rules: [ObjectRule]
    }
}
