// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform

/// Migrations that each lead from one schema version to a later one, so that files of several versions can
/// be brought to the newest.
package struct MigrationChain: Sendable {
    /// The migrations in the order in which they were given. No two begin at the same version.
    private let migrations: [Migration]

    /// Makes a chain of migrations, of which no two begin at the same version and each leads to a higher
    /// one. A `fromVersion` of nil counts as 0.
    package init(_ migrations: [Migration]) { self.migrations = migrations }

    /// Returns the migrations that lead from one version to another, in the order in which they are to be
    /// carried out, with their indices in the order in which they were given.
    ///
    /// - Parameters:
    ///   - version: The version of the file, which is lower than `wanted`; that of a file without one is 0.
    ///   - wanted: The version that the file shall have.
    /// - Throws: `WriteError` with the code `schemaVersionConflict`, which names the gap.
    package func way(
        from version: UInt64, to wanted: UInt64
    ) throws(WriteError) -> [(index: Int, migration: Migration)] {
        var way: [(index: Int, migration: Migration)] = []
        var reached = version
        while reached < wanted {
            let next = migrations.firstIndex { $0.fromVersion ?? 0 == reached && $0.toVersion <= wanted }
            guard let next else {
                throw WriteError(
                    .schemaVersionConflict,
                    "the file has schema version \(version), and no migration leads from \(reached) on to \(wanted)")
            }
            var migration = migrations[next]
            migration.fromVersion = reached
            way.append((index: next, migration: migration))
            reached = migration.toVersion
        }
        return way
    }
}
