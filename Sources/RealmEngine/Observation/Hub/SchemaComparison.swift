// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a commit did to classes and properties, as far as observers are concerned.
enum SchemaComparison {
    /// Nil when classes and properties are the same; whether all that were there still are, otherwise.
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

    /// Whether two columns are the same to those who observe them.
    private static func isSame(_ left: Column, _ right: Column) -> Bool {
        left.name == right.name && left.type == right.type && left.collection == right.collection
            && left.isNullable == right.isNullable && left.targetTable == right.targetTable
    }
}

extension ObservedTarget.Filter {
    /// The filter in a schema to which something was added: stars include more then.
    func resolved(in snapshot: Snapshot, _ names: BacklinkNames) -> ObservedTarget.Filter {
        guard case .keyPaths(let filter) = self, let key = filter.chains.first?.first?.table,
            let table = snapshot.table(key),
            let resolved = try? KeyPathFilter.resolve(filter.paths, of: table, in: snapshot, names: names)
        else { return self }
        return .keyPaths(resolved)
    }
}
