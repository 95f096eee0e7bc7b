// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The limits of the write queue, of single writes and of interactive transactions.
///
/// They come from the server's options and are fixed while a database is open. The time limits protect
/// the clients that wait for the writer, and the size limits protect the memory of the server.
package struct WriteLimits: Sendable, Equatable {
    /// The maximum number of waiting writes; others are rejected.
    package var queuedJobs = 1000
    /// The maximum number of writes that share one commit.
    package var groupJobs = 256
    /// The size of new nodes and of results in bytes after which a group accepts no more writes.
    package var groupBytes = 64 << 20
    /// The memory in bytes that the changes of one write may take.
    /// Without it, one long value that is written to all objects of a class could take any amount.
    package var writeBytes = 128 << 20
    /// The memory in bytes that uncommitted writes of all realms may take together. The largest may continue.
    package var uncommittedBytes = 256 << 20
    /// The memory in bytes that uncommitted writes of one client may take in all realms, with the same exception.
    package var uncommittedBytesPerClient = 192 << 20
    /// Where uncommitted writes are counted.
    package var memory = WriteMemory.shared
    /// The number of rounds that the loops of one migration may make together.
    package var migrationRounds = 10_000_000
    /// The time for which a write waits for an interactive transaction to end.
    package var lockWait = Duration.seconds(5)
    /// The longest time for which an interactive transaction may remain unused before it ends.
    package var idleTime = Duration.seconds(5)
    /// The idle time of a transaction whose client does not request one.
    package var usualIdleTime = Duration.seconds(5)
    /// The longest time that an interactive transaction may take in all, even if it is in use.
    package var lifetime = Duration.seconds(30)
    /// The lifetime of a transaction whose client does not request one.
    package var usualLifetime = Duration.seconds(30)
    /// The maximum number of interactive transactions of one client, including those that wait to begin.
    package var transactionsPerClient = 4
    /// The longest time for which a client may wait for its interactive transaction to begin.
    package var maximumWait = Duration.seconds(10)
    /// The time for which ended transactions and asynchronous writes are remembered.
    package var rememberedTime = Duration.seconds(600)
    /// The maximum number of ended transactions, and of asynchronous writes, that are remembered.
    package var rememberedCount = 10_000

    /// The memory in bytes for the results of all remembered asynchronous writes; beyond it what is brief of them stays.
    package var rememberedBytes = 16 << 20
    /// The number of classes of a realm from which no class is added.
    package var classes = 1000
    /// The number of properties of a class from which no property is added.
    package var properties = 1000

    /// Makes the default limits.
    package init() {}
}
