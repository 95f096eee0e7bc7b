// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The targets of a hub that other threads advance, in the order in which they wait. It is used on the thread of the hub only.
struct DelayedTargets {
    /// The targets; those that have ended remain until the thread that evaluates them has noticed it.
    private(set) var all: [DelayedTarget] = []
    /// The clients for whom a target is evaluated, or waits for the turn of its client. Each has one at a time.
    private var busy: Set<ByteText> = []

    /// Whether there is none.
    var isEmpty: Bool { all.isEmpty }
    /// The versions that the file keeps for them.
    var heldVersions: Set<UInt64> { Set(all.compactMap { $0.isOver ? nil : $0.from?.token.version }) }
    /// The first instant at which a version will have been kept for too long, or a target has rested.
    var deadline: Instant {
        let rests = all.filter { $0.turns == nil && !$0.isOver && !$0.observation.isActive }.map(\.rest).filter {
            $0 > Instant.now()
        }
        return min(all.compactMap(\.deadline).min() ?? .distantFuture, rests.min() ?? .distantFuture)
    }

    /// Adds a target.
    mutating func add(_ target: DelayedTarget) { all.append(target) }

    /// Gives the turns of a target back.
    mutating func free(_ target: DelayedTarget) {
        for turn in target.turns ?? [] { busy.remove(turn) }
        target.turns = nil
    }

    /// Puts a target behind all others.
    mutating func requeue(_ target: DelayedTarget) {
        remove(target)
        all.append(target)
    }

    /// Removes a target.
    mutating func remove(_ target: DelayedTarget) { all.removeAll { $0 === target } }

    /// Removes the targets that have ended.
    ///
    /// - Returns: The calls that waited for them.
    mutating func removeEnded() -> [@Sendable () -> Void] {
        var calls: [@Sendable () -> Void] = []
        for target in all where target.isOver {
            calls += target.waiters.map { waiter in { waiter.call(false) } }
            target.waiters = []
            guard !target.isRunning else { continue }
            free(target)
            remove(target)
        }
        return calls
    }

    /// Gives up the versions that were kept for too long.
    func loseLate() {
        guard !isEmpty else { return }
        let now = Instant.now()
        for target in all where target.deadline.map({ $0 <= now }) ?? false { target.lose() }
    }

    /// Chooses the targets that are advanced next, one for each client, and takes the turns of their clients.
    ///
    /// - Returns: The targets with what requests a thread for them.
    mutating func next() -> [(target: DelayedTarget, threads: [EvaluationThread.Run])] {
        guard !isEmpty else { return [] }
        let now = Instant.now()
        var next: [(DelayedTarget, [EvaluationThread.Run])] = []
        for target in all where target.turns == nil && !target.isOver {
            guard target.rest <= now || target.observation.isActive || !target.waiters.isEmpty else { continue }
            var free: [ByteText: EvaluationThread.Run] = [:]
            let threads = target.observation.threads
            for thread in threads where !busy.contains(thread.client) { free[thread.client] = thread.run }
            var runs = Array(free.values)
            // Who waits for a first evaluation is not a listener yet.
            if threads.isEmpty { runs = target.waiters.compactMap(\.runElsewhere) }
            guard !runs.isEmpty || threads.isEmpty else { continue }
            busy.formUnion(free.keys)
            target.turns = Array(free.keys)
            target.setListeners(target.observation.listeners.sorted { $0.key < $1.key }.map { ($0.key, $0.value.listener) })
            next.append((target, runs))
        }
        return next
    }
}
