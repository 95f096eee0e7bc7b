// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// This node in its cluster: sends heartbeats to the register, keeps the map, and takes the shards of dead nodes.
///
/// One thread does all of that. Any thread may ask for the map.
package final class ClusterMember: Sendable {
    /// The known map and the state of the thread.
    private struct State {
        var map = ClusterMap.empty
        /// When the last call that was answered began; nil before there was one.
        var contact: Instant?
        /// Since when all calls were answered; nil after a failure.
        var contactSince: Instant?
        /// Why the last call failed; nil when it has not.
        var failure: StorageError?
        var failures = 0
        var takenShards = 0
        var isRunning = false
        var isStopped = false
        var isLeaving = false
    }

    /// The name of this node.
    package let id: String
    /// The URL at which clients reach it.
    package let url: String
    /// The times.
    package let limits: ClusterMember.Limits
    private let register: any ClusterRegister
    private let monitor = Monitor(State())
    /// The number of the map, for those who ask at every request.
    private let number = Atomic<UInt64>(0)
    /// When the last call that was answered began, in nanoseconds; 0 before there was one.
    private let contact = Atomic<UInt64>(0)
    private let token = RealmOwner.RandomText.token()
    private let changed = RankedMutex<Callback<ClusterMap>?>(.leaf, nil)

    /// Makes a member that has not called the register yet.
    ///
    /// - Parameters:
    ///   - id: The name of the node.
    ///   - url: The URL at which clients reach it, without a slash at the end.
    ///   - register: The register that keeps the nodes.
    ///   - limits: The times.
    package init(_ id: String, url: String, register: any ClusterRegister, limits: ClusterMember.Limits = ClusterMember.Limits())
    {
        self.id = id
        self.url = url
        self.register = register
        self.limits = limits
    }

    /// Sets what is called whenever shards have got other nodes. It is called on the thread of the member, without a lock, and must be
    /// brief.
    package func whenChanged(_ action: @escaping @Sendable (ClusterMap) -> Void) { changed.withLock { $0 = Callback(action) } }

    /// The map as it is known.
    package var map: ClusterMap { monitor.withLock { $0.map } }

    /// Whether the register has answered lately.
    package var isCurrent: Bool { isCurrent(at: Instant.now()) }

    /// Whether the register has answered within the last seconds before an instant.
    package func isCurrent(at now: Instant) -> Bool {
        let contact = contact.load(ordering: .relaxed)
        return contact > 0 && now.seconds(since: Instant(nanoseconds: contact)) < limits.currentSeconds
    }

    /// The number of the map as it is known.
    package var mapNumber: UInt64 { number.load(ordering: .acquiring) }

    /// The number of seconds since the register has answered; infinite before the first answer.
    package var silentSeconds: Double { monitor.withLock { $0.contact }.map { Instant.now().seconds(since: $0) } ?? .infinity }

    /// Why the register does not answer; nil when it does.
    package var failure: StorageError? { monitor.withLock { $0.failure } }

    /// The numbers of failed calls of the register, and of shards taken from dead nodes.
    package var counts: (failures: Int, takenShards: Int) { monitor.withLock { ($0.failures, $0.takenShards) } }

    /// Calls the register once, and starts the thread.
    ///
    /// - Throws: The error of the first call; `Threads.Failure` as `.io`.
    package func start() throws(StorageError) {
        try beat()
        do throws(Threads.Failure) {
            try Threads.start("cluster", stackBytes: 1 << 20) { [self] in run() }
        } catch {
            throw .io(operation: "starting a thread", errno: 11)
        }
        monitor.withLock { $0.isRunning = true }
    }

    /// Announces that this node releases its shards. The other nodes take them at once.
    package func leave() {
        monitor.withLock { $0.isLeaving = true }
        try? beat()
    }

    /// Ends the thread.
    package func stop() {
        monitor.broadcast { $0.isStopped = true }
        _ = monitor.wait(until: Instant.now().adding(seconds: 5)) { state -> Bool? in state.isRunning ? nil : true }
    }

    /// The loop of the thread.
    private func run() {
        var next = Instant.now().adding(seconds: limits.beatSeconds)
        let pause = min(limits.lookSeconds, limits.beatSeconds)
        while monitor.wait(until: Instant.now().adding(seconds: pause), { state -> Bool? in state.isStopped ? true : nil }) == nil
        {
            do throws(StorageError) {
                if Instant.now() < next, try isUnchanged() { continue }
                next = Instant.now().adding(seconds: limits.beatSeconds)
                try beat()
                try takeVacancies()
            } catch {
                // The next attempt follows soon; `beat` has noted the failure.
            }
        }
        monitor.broadcast { $0.isRunning = false }
    }

    /// Whether no shard has got another node since the last call. While the register does not answer it is not looked at between calls.
    private func isUnchanged() throws(StorageError) -> Bool {
        let (number, isSilent) = monitor.withLock { ($0.map.number, $0.contactSince == nil) }
        guard !isSilent else { return true }
        return try register.number() == number
    }

    /// Calls the register now, because the map may be old. Waits for the answer.
    package func call() throws(StorageError) { try beat() }

    /// Calls the register, and notes what it answers.
    private func beat() throws(StorageError) {
        let begin = Instant.now()
        let (known, isLeaving) = monitor.withLock { ($0.map, $0.isLeaving) }
        let map: ClusterMap
        do throws(StorageError) {
            map = try register.beat(ClusterNode(id: id, url: url, isLeaving: isLeaving), token: token, known)
        } catch {
            monitor.withLock { state in
                state.failure = error
                state.failures += 1
                state.contactSince = nil
            }
            throw error
        }
        monitor.withLock { state in
            // Two threads may have called.
            if map.number >= state.map.number {
                state.map = map
                number.store(map.number, ordering: .releasing)
            }
            // A register that was slow, or a machine that stood still, kept the others from calling, too.
            let now = Instant.now()
            let wasAway = now.seconds(since: state.contact ?? begin) > limits.patienceSeconds / 2
            state.contact = max(begin, state.contact ?? begin)
            contact.max(begin.nanoseconds, ordering: .relaxed)
            state.contactSince = wasAway ? now : state.contactSince ?? begin
            state.failure = nil
        }
        guard map.owners != known.owners, let action = changed.withLock({ $0 }) else { return }
        action.call(map)
    }

    /// Takes the shards of nodes that are gone.
    ///
    /// After an outage or a slow answer of the register all nodes seem to have been silent, so no node counts as gone before the
    /// others have had the time to call again.
    private func takeVacancies() throws(StorageError) {
        let (map, since, isLeaving) = monitor.withLock { ($0.map, $0.contactSince, $0.isLeaving) }
        guard !isLeaving, let since, Instant.now().seconds(since: since) >= 2 * limits.beatSeconds + 1 else { return }
        let isSettled = Instant.now().seconds(since: since) >= limits.patienceSeconds
        var taken = 0
        for (former, shards) in map.vacancies(for: id, patience: limits.patienceSeconds) {
            let isEmpty = former.text.isEmpty || map.node(former.text)?.isLeaving ?? true
            guard isSettled || isEmpty else { continue }
            taken += try register.assign(shards, to: id, from: former.text, ifSilentFor: limits.patienceSeconds)
        }
        guard taken > 0 else { return }
        monitor.withLock { $0.takenShards += taken }
        try beat()
    }
}

extension ClusterMember {
    /// The interval of heartbeats, and the timeouts for those of other nodes.
    ///
    /// They affect how soon nodes react, never correctness: the log of a realm decides who owns it.
    package struct Limits: Sendable {
        /// The number of seconds between two calls of the register.
        package var beatSeconds = 0.5
        /// The number of seconds between two looks at the number of the map, so that a shard that is moved is noticed soon.
        package var lookSeconds = 0.05
        /// After how many seconds of silence a node counts as gone, and its shards are given to others.
        package var patienceSeconds = 4.0
        /// After how many seconds without an answer of the register a node does not call itself current any more.
        package var currentSeconds = 3.0

        /// Makes the usual limits.
        package init() {}
    }
}
