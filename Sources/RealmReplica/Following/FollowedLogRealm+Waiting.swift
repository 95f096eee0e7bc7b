// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Waiting for versions.
extension FollowedLogRealm {
    /// A caller that waits for a version.
    struct Waiter: Sendable {
        enum Goal: Sendable {
            case version(UInt64)
            /// The head that the log confirms when asked at this time or later.
            case head(asked: Instant)
        }

        /// The number of the waiter.
        let number: Int
        var goal: Goal
        /// Called once, without a lock: whether the version is there.
        let completion: @Sendable (Bool) -> Void
    }

    /// Calls a function when the realm has a version, or will not have it in time. The log is looked at early for that.
    ///
    /// - Parameters:
    ///   - version: The number of the version, in the present epoch.
    ///   - deadline: The time of the timeout.
    ///   - completion: Receives whether the version is there. It is called on any thread, at once or later, and must not wait.
    package func whenReached(_ version: UInt64, until deadline: Instant, _ completion: @escaping @Sendable (Bool) -> Void) {
        add(.version(version), until: deadline, completion)
    }

    /// Calls a function when the realm has everything that the log confirms to have had at the time of the call.
    ///
    /// - Parameters:
    ///   - deadline: The time of the timeout.
    ///   - completion: Receives whether the realm got there. It is called on any thread, at once or later, and must not wait.
    package func whenLinear(until deadline: Instant, _ completion: @escaping @Sendable (Bool) -> Void) {
        add(.head(asked: follower.clock()), until: deadline, completion)
    }

    /// Waits until the realm has a version; false when it has not by a deadline.
    package func wait(for version: UInt64, until deadline: Instant) -> Bool { wait(.version(version), until: deadline) }

    /// Waits until the realm has everything that the log had at the time of the call; false when that is not so by a deadline.
    package func linear(until deadline: Instant) -> Bool { wait(.head(asked: follower.clock()), until: deadline) }

    /// Waits on the calling thread.
    private func wait(_ goal: Waiter.Goal, until deadline: Instant) -> Bool {
        let answer = Monitor<Bool?>(nil)
        add(goal, until: deadline) { isReached in answer.broadcast { $0 = isReached } }
        // The timer of the waiter answers at the deadline.
        return answer.wait { $0 } ?? false
    }

    /// Adds a waiter, and sets a timer for the deadline.
    private func add(_ goal: Waiter.Goal, until deadline: Instant, _ completion: @escaping @Sendable (Bool) -> Void) {
        let limit = limits.waiterCount
        let (answer, number) = monitor.withLock { state -> (Bool?, Int) in
            if case .version(let version) = goal, state.place.version >= version { return (true, 0) }
            guard !state.isStopped, state.waiters.count < limit else { return (false, 0) }
            state.nextWaiter += 1
            state.waiters.append(Waiter(number: state.nextWaiter, goal: goal, completion: completion))
            return (nil, state.nextWaiter)
        }
        if let answer { return completion(answer) }
        follower.hasten()
        guard !deadline.isDistantFuture else { return }
        follower.timers.set(at: deadline) { [weak self] in self?.expire(number) }
    }

    /// Whether a waiter needs a confirmed head of the log.
    var wantsConfirmation: Bool { monitor.withLock { $0.wantsConfirmation } }

    /// Reports the timeout to a caller that still waits.
    private func expire(_ number: Int) {
        let late = monitor.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        late?.completion(false)
    }

    /// Fails all waiters: their versions will not come.
    func failWaiters() {
        let waiters = monitor.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.completion(false) }
    }
}

extension FollowedLogRealm.State {
    /// Whether a waiter needs a confirmed head of the log.
    var wantsConfirmation: Bool {
        waiters.contains { waiter in
            if case .head = waiter.goal { return true }
            return false
        }
    }

    /// Takes out those whose version is there.
    mutating func takeReached() -> [FollowedLogRealm.Waiter] {
        guard !waiters.isEmpty else { return [] }
        let reached = place.version
        func isReached(_ waiter: FollowedLogRealm.Waiter) -> Bool {
            guard case .version(let version) = waiter.goal else { return false }
            return version <= reached
        }
        let ready = waiters.filter(isReached)
        if !ready.isEmpty { waiters.removeAll(where: isReached) }
        return ready
    }

    /// Lets waiters for a confirmed head wait for its version instead, and removes those that are done.
    mutating func takeReady(seen head: LogHead, asked: Instant) -> [FollowedLogRealm.Waiter] {
        guard !waiters.isEmpty else { return [] }
        for index in waiters.indices {
            guard case .head(let since) = waiters[index].goal, asked >= since else { continue }
            // In another history the numbers mean something else; waiters fail when it is taken over.
            waiters[index].goal = .version(head.lineage == place.epoch ? head.version : .max)
        }
        return takeReached()
    }
}
