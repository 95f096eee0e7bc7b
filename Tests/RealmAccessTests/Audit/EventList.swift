// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The names of the events that something has reported.
final class EventList: Sendable {
    private let events = Mutex<[String]>([])

    /// The names, in their order.
    var all: [String] { events.withLock { $0 } }

    func add(_ event: String) { events.withLock { $0.append(event) } }
}
