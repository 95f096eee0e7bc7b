// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension WriteLimits {
    /// What the server was told about writes and transactions.
    init(_ limits: Limits) {
        self.init()
        lockWait = .seconds(limits.writeSeconds)
        transactionsPerClient = limits.transactionsPerPrincipal
        idleTime = .seconds(limits.transactionIdleSeconds)
        lifetime = .seconds(limits.transactionSeconds)
        writeBytes = limits.writeBytes
        classes = limits.classes
        properties = limits.properties
    }
}
