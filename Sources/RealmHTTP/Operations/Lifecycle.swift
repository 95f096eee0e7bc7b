// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether the server still wants requests. Any thread may look at it and change it.
package final class Lifecycle: Sendable {
    private let stopping = Atomic<Bool>(false)

    /// A server that wants requests.
    package init() {}

    /// From now on the server says that it is not ready.
    package func beginStopping() { stopping.store(true, ordering: .relaxed) }

    /// Whether the server is going to end.
    package var isStopping: Bool { stopping.load(ordering: .relaxed) }
}
