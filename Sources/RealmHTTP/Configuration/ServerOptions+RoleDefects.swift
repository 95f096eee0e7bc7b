// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Whether roles fit the realms that are configured beside them.
extension ServerOptions {
    /// Returns what the roles say of a realm of the configuration that does not fit its schema; nil when all fits.
    ///
    /// Realms that cannot be opened have no schema yet; they are looked at when they are there (`RoleWatch`).
    ///
    /// - Parameters:
    ///   - catalog: The realms, which are open, closed or not there.
    ///   - opensClosed: Whether realms that are closed because nobody used them are opened for it. This waits for files.
    func roleDefect(in catalog: Catalog, opensClosed: Bool) -> RoleDefect? {
        guard roles.isStated else { return nil }
        for name in realms.map(\.name.text) {
            if opensClosed, case .closed? = catalog[name] { _ = catalog.openNow(name) }
            guard let database = catalog.database(name) else { continue }
            if let defect = roles.defects(in: database.current.snapshot, realm: name).first { return defect }
        }
        return nil
    }
}
