// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Keeping the list of leases consistent with the interactive transactions that exist.
extension LeaseRegistry {
    /// Removes the leases of interactive transactions that have ended by themselves, by a commit, a
    /// failure or the end of their time.
    ///
    /// Called before the leases are listed: a transaction does not report its end here.
    ///
    /// - Parameter catalog: The realms, whose open transactions are compared with the leases.
    package func removeEndedTransactions(of catalog: Catalog) {
        for lease in all where lease.kind == .transaction {
            if case .ready(let database)? = catalog[lease.realm], database.openTransaction?.id == lease.id { continue }
            remove(lease.id)
        }
    }
}
