// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension WriteLimits {
    /// What the server was told about writes and transactions.
    init(_ limits: Limits) {
        self.init()
        lockWaitSeconds = Double(limits.writeSeconds)
        transactionsPerClient = limits.transactionsPerPrincipal
        idleSeconds = Double(limits.transactionIdleSeconds)
        lifetimeSeconds = Double(limits.transactionSeconds)
        writeBytes = limits.writeBytes
        classes = limits.classes
        properties = limits.properties
    }
}
