// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The conversion of the limits of the server to those of each realm's writer.
extension WriteLimits {
    /// Makes the limits of writes and transactions of a realm from those of the server.
    ///
    /// - Parameter limits: The limits of the server.
    init(_ limits: Limits) {
        self.init()
        lockWait = .seconds(limits.writeSeconds)
        transactionsPerClient = limits.transactionsPerPrincipal
        idleTime = .seconds(limits.transactionIdleSeconds)
        lifetime = .seconds(limits.transactionSeconds)
        // A client that states nothing gets the limit of the operator.
        usualIdleTime = idleTime
        usualLifetime = lifetime
        writeBytes = limits.writeBytes
        uncommittedBytes = limits.uncommittedBytes
        uncommittedBytesPerClient = limits.uncommittedBytesPerPrincipal
        migrationRounds = limits.migrationRounds
        classes = limits.classes
        properties = limits.properties
    }
}
