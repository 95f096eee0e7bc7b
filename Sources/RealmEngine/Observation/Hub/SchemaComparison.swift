// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares the schemas of two versions from the view of observers, who see classes and properties but no hidden columns.
enum SchemaComparison {
    /// Compares two schemas.
    ///
    /// - Parameters:
    ///   - old: The earlier version.
    ///   - new: The later version.
    /// - Returns: Nil when classes and properties are the same; true when some were only added, false
    ///   when some were changed or removed.
    static func isAdditive(from old: Snapshot, to new: Snapshot) -> Bool? {
        var hasMore = old.classes.count != new.classes.count
        for table in old.classes {
            guard let other = new.table(table.key), other.name == table.name, other.kind == table.kind,
                other.primaryKey?.leafIndex == table.primaryKey?.leafIndex
            else { return false }
            for column in table.columns {
                guard let same = other.column(column.key), isSame(column, same) else { return false }
            }
            hasMore = hasMore || other.columns.count != table.columns.count
        }
        return hasMore ? true : nil
    }

    /// Returns whether two columns are the same to an observer of their values. An index makes no difference.
    private static func isSame(_ left: Column, _ right: Column) -> Bool {
        left.name == right.name && left.type == right.type && left.collection == right.collection
            && left.isNullable == right.isNullable && left.targetTable == right.targetTable
    }
}

extension ObservedTarget.Filter {
    /// Resolves the key paths of a filter again in a schema with additions, because their wildcards then cover more properties.
    ///
    /// - Parameters:
    ///   - snapshot: The version with the new schema.
    ///   - names: The configured names of linking objects.
    /// - Returns: The resolved filter, or the same one if it has no key paths or they cannot be resolved.
    func resolved(in snapshot: Snapshot, _ names: BacklinkNames) -> ObservedTarget.Filter {
        guard case .keyPaths(let filter) = self, let key = filter.chains.first?.first?.table,
            let table = snapshot.table(key),
            let resolved = try? KeyPathFilter.resolve(filter.paths, of: table, in: snapshot, names: names)
        else { return self }
        return .keyPaths(resolved)
    }
}
