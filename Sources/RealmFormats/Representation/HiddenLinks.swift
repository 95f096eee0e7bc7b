// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Counts the links that lists and sets of an object leave out, because a view does not show their targets.
struct HiddenLinks {
    /// The version as it is read.
    let snapshot: Snapshot

    /// Whether any link can be hidden in the version.
    var arePossible: Bool { snapshot.scope != nil }

    /// Returns the number of stored, not dangling links that a list or set hides from the reader; 0 for other properties.
    ///
    /// - Parameters:
    ///   - column: A property that the view shows.
    ///   - row: An object that it shows.
    ///   - table: The class of the object, as the view shows it.
    /// - Throws: `StorageError` for a damaged file.
    /// - Complexity: Linear in the number of stored elements, where links may be hidden at all.
    func count(_ column: Column, _ row: Row, in table: Table) throws(StorageError) -> Int {
        guard let base = snapshot.scope?.base, mayHide(column), let whole = try base.table(table.key)?.find(row.key) else {
            return 0
        }
        return max(0, try whole.list(column, in: base).count - row.list(column, in: snapshot).count)
    }

    /// Writes the numbers of links that the lists and sets of an object hide, as the member `hidden` of `$meta`; nothing where
    /// they have all.
    ///
    /// - Parameters:
    ///   - plan: The plan of its class.
    ///   - budget: The work that the response may cost.
    ///   - writer: The writer, inside of `$meta`.
    func write(_ row: Row, _ plan: ObjectPlan, _ budget: WorkBudget, to writer: inout JSONWriter) throws(StorageError) {
        var isFirst = true
        for member in plan.members {
            guard let column = HiddenLinks.collection(member.source) else { continue }
            try budget.spend()
            let count = try count(column, row, in: plan.table)
            guard count > 0 else { continue }
            if isFirst {
                writer.key("hidden")
                writer.beginObject()
            }
            isFirst = false
            writer.key(member.name)
            writer.int(count)
        }
        if !isFirst { writer.endObject() }
    }

    /// Returns the list or set that a member shows; nil for other members.
    private static func collection(_ source: ObjectPlan.Source) -> Column? {
        switch source {
        case .list(let column), .set(let column): column
        case .single, .dictionary, .linkingObjects, .distance: nil
        }
    }

    /// Whether elements of a property may be links to objects that are not shown.
    private func mayHide(_ column: Column) -> Bool {
        guard column.collection == .list || column.collection == .set else { return false }
        return column.type == .mixed || (column.type == .link && column.targetTable.map(snapshot.mayHideObjects(of:)) ?? false)
    }
}
