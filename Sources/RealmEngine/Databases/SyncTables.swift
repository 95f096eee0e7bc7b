// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The tables that a sync client keeps beside the classes of a realm, which nothing but a sync client reads.
///
/// Source: realm-core, sync/noinst/sync_metadata_schema.cpp and the stores beside it.
enum SyncTables {
    /// The names of the tables, or what they begin with.
    private static let prefixes = ["flx_", "sync_internal_", "client_reset_"].map { Array($0.utf8) }

    private static func contain(_ table: Table) -> Bool {
        table.className == nil && prefixes.contains { table.name.utf8.starts(with: $0) }
    }

    /// Removes the tables from a copy of a realm. Tables of classes do not link to them.
    ///
    /// - Throws: `StorageError` for a damaged file, or when there is no room for the changes.
    static func remove(from transaction: WriteTransaction) throws(StorageError) {
        let tables = transaction.base.tables.filter(contain)
        for table in tables { try transaction.deleteAllObjects(in: table.key) }
        // Links first, so that no table is a target when it goes.
        for table in tables {
            for column in table.columns where column.type == .link { try transaction.removeColumn(column.key, of: table.key) }
        }
        for table in tables { try transaction.removeTable(table.key) }
    }
}
