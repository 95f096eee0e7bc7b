// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// Whether the server is stopping. Any thread may read and change it.
package final class Lifecycle: Sendable {
    private let stopping = Atomic<Bool>(false)

    /// Makes the state of a server that is not stopping.
    package init() {}

    /// Notes that the server is stopping: the readiness check fails from then on, so that a load
    /// balancer sends no more requests.
    package func beginStopping() { stopping.store(true, ordering: .relaxed) }

    /// Whether the server is stopping, so that its readiness check fails.
    package var isStopping: Bool { stopping.load(ordering: .relaxed) }
}
