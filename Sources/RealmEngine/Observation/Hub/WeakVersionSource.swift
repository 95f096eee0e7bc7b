// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A weak reference to a database. All threads may use it.
final class WeakVersionSource: Sendable {
    /// `@unchecked Sendable`: only used inside `state`, whose lock guards it.
    private struct Reference: @unchecked Sendable { weak var source: (any VersionSource)? }

    /// Guards the reference; the lock is a leaf.
    private let state = RankedMutex(.leaf, Reference())

    /// The database; nil when it was never set or has been released.
    var value: (any VersionSource)? { state.withLock { $0.source } }

    /// Sets the database, without retaining it.
    func set(_ source: any VersionSource) { state.withLock { $0.source = source } }
}
