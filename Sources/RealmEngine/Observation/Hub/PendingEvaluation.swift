// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery

/// The first evaluation of a target, on another thread than that of the hub, so that the hub continues to advance all other targets.
///
/// Each waiting call requests a thread, and the first thread evaluates. Until then the version is the position of the hub. From then on
/// `ObservationCore` keeps the changes, and advances the new observer over them.
///
/// `@unchecked Sendable`: a lock guards `state`. `watchedUntil` is used on the thread of the hub only. `result`, `byteCount` and `time` are set by
/// the thread that evaluates, which passes a call to the hub afterwards, and used by that call; the monitor of the inbox guards them.
final class PendingEvaluation: @unchecked Sendable {
    /// The waiting calls and the progress, guarded by the lock.
    private struct State {
        /// The version of the evaluation; nil after its end.
        var version: Version?
        /// The calls that wait for it. Only the thread of the hub changes them.
        var calls: [Attachment.Call] = []
        /// Whether a thread has begun it.
        var hasBegun = false
        /// Whether the changes since the version are not known, or include one of the schema, so that the target has to be evaluated again.
        var isOutdated = false
        /// Whether it was cancelled because no call waited for it any more.
        var hasLapsed = false
    }

    let target: ObservedTarget
    /// The bytes of all definitions beyond which none begins.
    let byteLimit: Int
    /// The observer, or why there is none.
    private var result: Result<any TargetObserver, ObservationError> = .failure(.query(.cancelled))
    /// The memory in bytes that is counted for the observer until the hub takes it.
    private var byteCount = 0
    /// The instant at which a timer looks for calls whose time has passed; nil when none is set.
    private var watchedUntil: Instant?
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// Limits the time of the evaluation, and of later ones by the clock of the hub.
    let clock: EvaluationClock
    /// The duration of the evaluation.
    private(set) var time = Duration.zero
    private let state: RankedMutex<State>

    /// Prepares an evaluation.
    ///
    /// - Parameters:
    ///   - version: The position of the hub.
    ///   - byteLimit: The bytes of all definitions beyond which none begins.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits its time. The clock of the hub is in use at the same time.
    init(_ target: ObservedTarget, at version: Version, byteLimit: Int, names: BacklinkNames, clock: EvaluationClock) {
        self.target = target
        self.byteLimit = byteLimit
        self.names = names
        self.clock = clock
        state = RankedMutex(.leaf, State(version: version))
    }

    deinit { ObservedMemory.shared.add(-byteCount) }

    // MARK: - The thread that evaluates

    /// Evaluates the target, unless that was begun before, or is not needed any more. Any thread may call it.
    ///
    /// - Returns: Whether it was evaluated by this call. The hub has to take it then.
    func run() -> Bool {
        let version = state.withLock { state -> Version? in
            guard !state.hasBegun else { return nil }
            state.hasBegun = true
            return state.version
        }
        guard let version else { return false }
        clock.start(isWanted: { [self] in isWanted })
        defer { clock.handOver() }
        guard clock.mayContinue else { return true }
        let begin = Instant.now()
        result = Result { () throws(ObservationError) in try observer(at: version) }
        time = Instant.now().duration(since: begin)
        return true
    }

    /// Makes the observer, and counts its memory.
    private func observer(at version: Version) throws(ObservationError) -> any TargetObserver {
        let memory = ObservedMemory.shared
        guard memory.byteCount < byteLimit else { throw .noRoom(limit: byteLimit) }
        let observer = try target.observer(at: version.snapshot, names: names, clock)
        let bytes = observer.byteCount
        guard bytes <= byteLimit - memory.byteCount else { throw .noRoom(limit: byteLimit) }
        byteCount = bytes
        memory.add(bytes)
        return observer
    }

    /// Whether a call still waits, and the result can be used. Once false, it stays false.
    var isWanted: Bool {
        let (calls, isUseful) = state.withLock { ($0.calls, !$0.isOutdated && !$0.hasLapsed) }
        guard isUseful else { return false }
        if calls.contains(where: { $0.isWanted }) { return true }
        state.withLock { $0.hasLapsed = true }
        return false
    }

    // MARK: - The thread of the hub

    /// Whether the target has to be evaluated again.
    var isOutdated: Bool { state.withLock { $0.isOutdated } }
    /// Whether it was cancelled because no call waited for it any more.
    var hasLapsed: Bool { state.withLock { $0.hasLapsed } }
    /// Whether no call waits for it.
    var isUnused: Bool { state.withLock { $0.calls.isEmpty } }
    /// The version of the evaluation; nil after its end.
    var version: Version? { state.withLock { $0.version } }
    /// The version that the file keeps for it; nil before its begin and after its end.
    var heldVersion: UInt64? { state.withLock { $0.hasBegun ? $0.version?.token.version : nil } }

    /// Adds a call that waits for it.
    func add(_ call: Attachment.Call) { state.withLock { $0.calls.append(call) } }

    /// Moves it to another version, unless it has begun.
    ///
    /// - Returns: False when it has begun at an earlier one.
    func follow(_ version: Version) -> Bool {
        let (isMoved, old) = state.withLock { state -> (Bool, Version?) in
            guard !state.hasBegun else { return (false, nil) }
            defer { state.version = version }
            return (true, state.version)
        }
        withExtendedLifetime(old) {}
        return isMoved
    }

    /// Notes that the target has to be evaluated again.
    func invalidate() { state.withLock { $0.isOutdated = true } }

    /// Returns the observer or why there is none, after the evaluation. Its memory is the caller's to count.
    func takeResult() -> Result<any TargetObserver, ObservationError> {
        ObservedMemory.shared.add(-byteCount)
        byteCount = 0
        defer { result = .failure(.query(.cancelled)) }
        return result
    }

    /// Ends it: it keeps no version and does not begin any more.
    ///
    /// - Returns: The calls that waited for it.
    func end() -> [Attachment.Call] {
        let (calls, version) = state.withLock { state -> ([Attachment.Call], Version?) in
            defer {
                state.calls = []
                state.version = nil
                state.hasBegun = true
                state.isOutdated = true
            }
            return (state.calls, state.version)
        }
        withExtendedLifetime(version) {}
        return calls
    }

    /// Removes and returns the calls whose deadline has passed, or whose client has left.
    func takeLate() -> [Attachment.Call] {
        watchedUntil = nil
        // `isWanted` calls the client's connection, so not under the lock. No other thread changes the calls.
        let calls = state.withLock { $0.calls }
        var left: [Attachment.Call] = []
        var late: [Attachment.Call] = []
        for call in calls {
            if call.isWanted { left.append(call) } else { late.append(call) }
        }
        state.withLock { $0.calls = left }
        return late
    }

    /// Records that a timer is set for the first deadline, or for the next look at clients who may leave; returns that, or nil when none is
    /// needed or an earlier one is set.
    func setTimer() -> Instant? {
        let deadline = state.withLock { $0.calls.map(\.admission.looked).min() } ?? .distantFuture
        guard !deadline.isDistantFuture, watchedUntil.map({ deadline < $0 }) ?? true else { return nil }
        watchedUntil = deadline
        return deadline
    }
}
