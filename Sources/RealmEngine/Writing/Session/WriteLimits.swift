// SPDX-License-Identifier: Apache-2.0

/// Bounds of the write queue and of interactive transactions.
///
/// They are fixed while a database is open. The bounds of time protect those who wait for the writer, the bounds of size
/// protect the memory of the server.
package struct WriteLimits: Sendable {
    /// Writes that may wait at the same time.
    package var queuedJobs = 1000
    /// Writes that share one commit at most.
    package var groupJobs = 256
    /// New nodes after which a group takes no further write.
    package var groupBytes = 64 << 20
    /// Memory for what one write changes; a value that goes into every object of a class would take any amount.
    package var writeBytes = 128 << 20
    /// How long a write waits for an interactive transaction to end.
    package var lockWait = Duration.seconds(5)
    /// An interactive transaction that is not used ends after this at the latest, and after `usualIdleTime` if its
    /// client does not say.
    package var idleTime = Duration.seconds(5)
    /// The same for a client that does not say.
    package var usualIdleTime = Duration.seconds(5)
    /// An interactive transaction ends after this whatever happens, and after `usualLifetime` if its client does
    /// not say.
    package var lifetime = Duration.seconds(30)
    /// The same for a client that does not say.
    package var usualLifetime = Duration.seconds(30)
    /// Interactive transactions of one client, the open one and those that wait.
    package var transactionsPerClient = 4
    /// A writer thread without work ends after this.
    package var threadRest = Duration.seconds(30)
    /// The longest wait for the beginning of an interactive transaction.
    package var maximumWait = Duration.seconds(10)
    /// How long, and how many, ended transactions and asynchronous writes are remembered.
    package var rememberedTime = Duration.seconds(600)
    /// How many of them are remembered.
    package var rememberedCount = 10_000

    /// What fates of asynchronous writes are remembered with, all together.
    package var rememberedBytes = 16 << 20
    /// Classes of a realm, and properties of a class, beyond which none are added.
    package var classes = 1000
    /// Properties of a class, beyond which none are added.
    package var properties = 1000

    /// The default bounds.
    package init() {}
}
