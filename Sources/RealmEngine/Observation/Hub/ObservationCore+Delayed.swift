// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery

/// The targets whose evaluation takes long, which other threads advance.
extension ObservationCore {
    /// The next instant at which the hub has something to do although nothing was committed.
    var deadline: Instant { min(passiveDeadline, delayed.deadline) }

    /// Whether another thread is to make the next evaluation of a target.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target.
    ///   - isLost: Whether its contents have to be read again.
    func isHeavy(_ observation: Observation, isLost: Bool = false) -> Bool {
        let isLate = roundTime > limits.roundTime
        let expected = isLost || isLate ? max(observation.usualTime, observation.fullTime) : observation.usualTime
        // After so long a round, more evaluations may take long for the first time.
        let isSudden = roundTime > limits.roundTime * 10
        guard isSudden || expected > (isLate ? limits.delayedTime / 10 : limits.delayedTime) else { return false }
        return !observation.observer.isGone && !observation.threads.isEmpty
    }

    /// Has other threads advance a target.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target.
    ///   - from: The version that it is at; nil to read the contents again.
    ///   - changes: The changes since then.
    func delay(_ observation: Observation, from: Version?, _ changes: CommitHistory) {
        let target = DelayedTarget(observation, from: from, limit: limits.evaluationTime, names: names)
        if let from { observation.since = from.token.version }
        registry.delay(observation)
        delayed.add(target, changes)
        if from == nil { for listener in observation.listenersInOrder { listener.willRestart() } }
        observation.reportBehind(at: observation.since)
    }

    /// Ends the way of a target whose observation has ended. Waiting callers get the error.
    func endDelay(of observation: Observation, _ error: ObservationError) {
        for waiter in delayed.remove(observation) { waiter.call(error) }
    }

    /// Runs a call when a target has reached the present position or a later one, at once if that is so.
    ///
    /// - Parameters:
    ///   - observation: The observation of the target; nil for none.
    ///   - stop: An earlier position that is sufficient if a step can end there; nil for none.
    ///   - admission: Until when the caller waits, and who evaluates the target if it has no listeners.
    ///   - call: The call, with the reason if it was not reached: its time is over, or the observation has ended.
    private func whenReached(
        _ observation: Observation?, at stop: Version?, _ admission: ObservedMemory.Admission,
        _ call: @escaping @Sendable (ObservationError?) -> Void
    ) {
        guard let observation, let position else { return call(nil) }
        roundTime = .zero
        if observation.behind != nil, isHeavy(observation) { bringUp(observation) }
        guard let target = delayed[observation] else { return call(nil) }
        let isSufficient = stop.map { delayed.meet(target, at: $0, position: position) } ?? false
        let version = (isSufficient ? stop ?? position : position).token.version
        if target.step == nil, let from = target.from, from.token.version >= version { return call(nil) }
        target.waiters.append(DelayedTarget.Waiter(version: version, admission: admission, call: call))
    }

    /// Runs a call when the target of an attachment has reached the present position or a later one, or the attachment has ended.
    func whenReached(
        _ attachment: Attachment, at stop: Version?, _ admission: ObservedMemory.Admission,
        _ call: @escaping @Sendable (ObservationError?) -> Void
    ) {
        whenReached(registry[attachment], at: stop, admission, call)
    }

    /// Runs a call when its listener can be attached without waiting for another thread, or with the reason why that is not possible.
    func whenReached(_ attach: Attachment.Call, _ call: @escaping @Sendable (ObservationError?) -> Void) {
        whenReached(registry[attach.target.identity], at: nil, attach.admission, call)
    }

    /// Answers the calls that have waited for too long, and chooses the targets that other threads evaluate now.
    ///
    /// - Returns: The targets with what requests a thread for them.
    func nextDelayed() -> [(target: DelayedTarget, threads: [EvaluationThread.Run])] {
        guard let position else { return [] }
        for waiter in delayed.takeLate(at: position) { waiter.call(.query(.cancelled)) }
        for observation in delayed.unused { remove(observation, .outdated) }
        return delayed.next(to: position, limits)
    }

    /// Takes what a step of a target has led to: delivers the event, and runs the calls that have waited for it.
    func take(_ target: DelayedTarget) {
        guard let (step, outcome) = target.takeOutcome() else { return }
        delayed.free(target)
        if target.isIdleStep { DelayedTargets.IdleRest.shared.add(outcome.time) }
        let observation = target.observation
        guard delayed[observation] === target, let position else { return }
        note(outcome, of: observation, isFull: step.from == nil)
        if let error = outcome.error {
            guard target.isShort(step, outcome), case .query(.cancelled) = error else { return fail(observation, error) }
            target.lose(to: position, keeping: [step.to] + target.ends)
        } else {
            observation.count()
            observation.since = step.to.token.version
            deliver(outcome, of: observation)
            guard delayed[observation] === target else { return }
            if step.isOutdated || observation.observer.isGone { registry.file(observation) }
            // The commits meanwhile were not shown to what concerns it now.
            if step.isOutdated { target.isConcerned = true }
        }
        finishStep(target, to: position)
    }

    /// Counts a step.
    private func note(_ outcome: DelayedTarget.Outcome, of observation: Observation, isFull: Bool) {
        metrics.withLock { metrics in
            metrics.visited += 1
            metrics.evaluations += outcome.isEvaluated ? 1 : 0
            metrics.events += outcome.event == nil ? 0 : 1
        }
        guard outcome.isEvaluated else { return }
        observation.note(outcome.time, isFull: isFull)
        didEvaluate(outcome.begin)
    }

    /// Delivers the event of a step.
    private func deliver(_ outcome: DelayedTarget.Outcome, of observation: Observation) {
        guard let event = outcome.event else { return }
        for (number, listener) in observation.listeners.sorted(by: { $0.key < $1.key }) {
            if let call = outcome.calls[number] { call() } else { listener.listener.didChange(event) }
        }
    }

    /// Ends the way of a target that has reached the position of the hub, or has it wait for the next step.
    private func finishStep(_ target: DelayedTarget, to position: Version) {
        let observation = target.observation
        var ready: [DelayedTarget.Waiter] = []
        if target.isDone(at: position) {
            ready = delayed.remove(observation)
            observation.since = position.token.version
            observation.reportBehind(at: nil)
        } else {
            let reached = target.from?.token.version ?? 0
            ready = target.waiters.filter { $0.version <= reached }
            target.waiters.removeAll { $0.version <= reached }
            delayed.requeue(target)
            observation.reportBehind(at: observation.since)
        }
        rounds.publish(position)
        for waiter in ready { waiter.call(nil) }
    }
}
