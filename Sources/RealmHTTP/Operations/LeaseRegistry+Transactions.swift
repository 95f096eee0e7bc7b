// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension LeaseRegistry {
    /// Removes the leases of transactions that have ended by themselves.
    func removeEndedTransactions(of catalog: Catalog) {
        for lease in all where lease.kind == .transaction {
            if case .ready(let database)? = catalog[lease.realm], database.openTransaction?.id == lease.id { continue }
            remove(lease.id)
        }
    }
}
