// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// Views of versions.
extension RealmRights {
    /// Returns the part of a version that an action may reach; nil for everything.
    ///
    /// Grants that do not fit the schema are left out. Embedded classes are shown as far as their owners are.
    ///
    /// - Parameters:
    ///   - snapshot: The whole version.
    ///   - action: One of the actions of classes.
    package func scope(of snapshot: Snapshot, for action: RightsAction) -> SnapshotScope? {
        guard !isWhole else { return nil }
        let rights = fitting(snapshot)
        let closed = rights.closedEmbeddedClasses(in: snapshot, for: action)
        var shown: [TableKey: SnapshotScope.Shown] = [:]
        var isEverything = closed.isEmpty
        for table in snapshot.classes where !closed.contains(table.key) {
            let ofClass = rights.rights(on: table.className ?? "")
            let allowance = ofClass.allowances[action]
            let unseen = allowance?.hidden ?? ofClass.hidden
            guard allowance != nil || table.kind == .embedded else {
                isEverything = false
                continue
            }
            let hidden = table.columns.filter { column in
                unseen.contains(column.name) || column.targetTable.map(closed.contains) ?? false
            }
            let alternatives = table.kind == .embedded ? nil : allowance?.alternatives
            isEverything = isEverything && hidden.isEmpty && alternatives == nil
            shown[table.key] = SnapshotScope.Shown(hidden: hidden, rule: alternatives.map { RealmRights.rule($0) })
        }
        return isEverything ? nil : SnapshotScope(showing: shown, of: snapshot)
    }

    private static func rule(
        _ alternatives: [RowRule.Alternative]
    ) -> @Sendable (_ table: Table, _ base: Snapshot) -> ObjectRule {
        { table, base in RowRule.make(alternatives, for: table, in: base) }
    }

    /// Returns the embedded classes with a grant that does not fit, and without any other grant.
    ///
    /// The properties that a role wanted to hide in them are unknown, so they are not shown in their owners either.
    private func closedEmbeddedClasses(in snapshot: Snapshot, for action: RightsAction) -> Set<TableKey> {
        let closed = snapshot.classes.filter { table in
            guard table.kind == .embedded, let className = table.className, hasLost(className) else { return false }
            return rights(on: className).allowances[action] == nil
        }
        return Set(closed.map(\.key))
    }

    /// Returns the permitted actions in each class, as `/v1/me` lists them: `{"Dog": ["read", "create"]}`.
    ///
    /// - Parameter snapshot: The whole version. Classes without rights are left out, and embedded ones, which follow their owners.
    /// - Returns: The object; nil when the realm does not exist for the principal.
    package func may(in snapshot: Snapshot) -> JSONObject? {
        guard !isNothing else { return nil }
        return fitting(snapshot).may(snapshot.classes.filter { $0.kind != .embedded }.compactMap(\.className))
    }

    /// Whether objects of any class may be made, changed or deleted.
    package var mayWrite: Bool { isWhole || allows([.create, .update, .delete]) }
    /// Whether anything may be imported.
    package var mayImportSomething: Bool { isWhole || mayImport || allows([.import]) }

    /// Whether anything may be observed.
    package var maySubscribeToSomething: Bool { isWhole || allows([.subscribe]) }

    /// Whether anything may be exported.
    package var mayExportSomething: Bool { isWhole || mayExport || allows([.export]) }

    /// Returns the permitted actions in some classes, without classes that have none.
    package func may(_ classes: [String]) -> JSONObject {
        JSONObject(
            classes.compactMap { className in
                let allowed = actions(on: className)
                let names = RightsAction.allCases.filter(allowed.contains).map { JSONValue.string($0.rawValue) }
                return names.isEmpty ? nil : (className, .array(names))
            })
    }
}
