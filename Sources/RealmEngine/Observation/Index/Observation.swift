// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One observed target with its listeners. It is used on the hub's thread only, and exists while it has listeners.
final class Observation {
    /// A listener of the target, with whether it waits for events.
    struct Listener {
        /// The object that receives the events of the target.
        let listener: any ObservationListener
        /// Whether it waits for events; a target without an active listener is passive.
        var isActive: Bool
    }

    let target: ObservedTarget
    /// The observer that follows the target from version to version.
    let observer: any TargetObserver
    /// The number of the observation; those that began later have greater ones.
    let number: Int
    /// The listeners by the numbers of their attachments.
    var listeners: [Int: Listener] = [:]

    /// Limits the time of the observer. It is the clock of the hub, except while another thread evaluates the target.
    let clock: EvaluationClock
    /// The approximate duration of the last evaluations. A long one counts for some time, though less with each one after it.
    private(set) var usualTime: Duration
    /// The duration of the last complete evaluation.
    private(set) var fullTime: Duration

    /// The version that the observer is at; nil for the position of the hub, which all observations that a round does not concern
    /// reach without being touched. The `ObservationRegistry` sets it.
    var behind: Version?
    /// The last version that the observer was advanced to, or that a caller got as its version. No commit after it has concerned
    /// the observer, up to `behind` or the position of the hub.
    var since: UInt64
    /// The interest of the observer, as the `TargetIndex` has filed it.
    var interest = TargetInterest.everything
    /// The entries of the observation in the `TargetIndex`.
    var entries: [IndexedTarget] = []
    /// The number of the last search that found the observation.
    var foundBy: UInt64 = 0

    /// Makes an observation without listeners, at the position of the hub.
    ///
    /// - Parameters:
    ///   - clock: Limits the time of the observer.
    ///   - time: The duration of its first evaluation.
    ///   - version: The position of the hub.
    init(
        _ target: ObservedTarget, _ observer: any TargetObserver, _ clock: EvaluationClock, time: Duration, number: Int,
        since version: UInt64
    ) {
        since = version
        self.clock = clock
        usualTime = time
        fullTime = time
        self.target = target
        self.observer = observer
        self.number = number
    }

    /// The memory in bytes that is counted for the observation.
    private(set) var byteCount = 0
    /// The approximate bytes of an observation without its rows: its definition and queues.
    private static let ownBytes = 4096

    /// Counts the memory anew, after the observer has changed.
    func count() {
        let bytes = presentByteCount
        ObservedMemory.shared.add(bytes - byteCount)
        byteCount = bytes
    }

    /// The memory in bytes that the observation takes now. The thread that evaluates the target may read it.
    var presentByteCount: Int { Observation.ownBytes + observer.byteCount }

    deinit { ObservedMemory.shared.add(-byteCount) }

    /// Whether any listener waits for events.
    var isActive: Bool { listeners.values.contains { $0.isActive } }

    /// The threads that may evaluate the target besides that of the hub.
    var threads: [EvaluationThread] { listeners.values.flatMap { $0.listener.threads } }

    /// Notes how long an evaluation took.
    ///
    /// - Parameters:
    ///   - isFull: Whether the contents were read anew.
    func note(_ time: Duration, isFull: Bool) {
        usualTime = max(time, usualTime / 8 * 7)
        if isFull { fullTime = time }
    }

    /// Reports the version of the last event to the listeners; nil for the position of the hub.
    func reportBehind(at version: UInt64?) {
        for listener in listenersInOrder { listener.isBehind(at: version) }
    }

    /// The listeners in the order in which they attached.
    var listenersInOrder: [any ObservationListener] {
        listeners.count == 1
            ? listeners.values.map(\.listener) : listeners.sorted { $0.key < $1.key }.map(\.value.listener)
    }
}
