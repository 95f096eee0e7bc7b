// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Checks that roles fit the configured realms.
extension ServerOptions {
    /// Returns a grant that does not fit the schema of a configured realm; nil when all fit.
    ///
    /// Realms that cannot be opened have no schema yet; they are checked when they are there (`RoleWatch`).
    ///
    /// - Parameters:
    ///   - catalog: The realms, which are open, closed or not there.
    ///   - readsFiles: Whether the files of realms that are not open are read for it. This waits for the disk.
    package func roleDefect(in catalog: Catalog, readsFiles: Bool) -> RoleDefect? {
        guard roles.isStated else { return nil }
        for realm in realms {
            if let database = catalog.database(realm.name.text) {
                if let defect = roleDefect(in: database) { return defect }
            } else if readsFiles, let database = dryRun(realm) {
                defer { database.close() }
                if let defect = roleDefect(in: database) { return defect }
            }
        }
        return nil
    }

    /// Returns a grant that does not fit the schema of an open realm.
    private func roleDefect(in database: Database) -> RoleDefect? {
        roles.defects(in: database.current.snapshot, realm: database.name.text).first
    }

    /// Returns a realm of the configuration as it would be read, without locking or changing anything; nil when it cannot be.
    private func dryRun(_ realm: ConfiguredRealm) -> Database? {
        guard var opening = try? opening(of: realm) else { return nil }
        if opening.mode != .follow { opening.mode = .readOnly }
        return try? Database.dryRun(name: realm.name, path: realm.path, opening)
    }
}
