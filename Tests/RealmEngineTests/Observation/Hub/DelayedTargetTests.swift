// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// The definitions of one client that took long held up the changes of all others at each commit, for the sum of their times.
@Suite("Observation: targets that other threads advance")
struct DelayedTargetTests {
    private func realm(_ change: (inout ObservationLimits) -> Void = { _ in }) throws -> EngineRealm {
        var limits = ObservationLimits()
        // Every evaluation counts as a long one.
        limits.delayedTime = .seconds(-1)
        change(&limits)
        return try EngineRealm.ofNodes(10, limits)
    }

    private func observe(_ realm: EngineRealm, _ text: String, _ threads: [EvaluationThread] = []) throws -> Observed {
        return try Observed(try realm.nodes(text), in: realm.database, isActive: true, threads: threads)
    }

    private func version(_ realm: EngineRealm) -> UInt64 { realm.database.current.token.version }

    /// Begins to catch up with the newest commit, or with an earlier version.
    private func catchUp(
        _ realm: EngineRealm, _ observed: Observed, at stop: Version? = nil, until deadline: Instant = .distantFuture,
        isWanted: (@Sendable () -> Bool)? = nil
    ) -> Awaited<Result<Version, ObservationError>> {
        let answer = Awaited<Result<Version, ObservationError>>()
        var admission = ObservedMemory.Admission()
        admission.deadline = deadline
        admission.isWanted = isWanted
        realm.database.observations.catchUp(observed.attached.attachment, at: stop, admission) { answer.set($0) }
        return answer
    }

    @Test func `others get their changes meanwhile, and it gets one change over all versions since its turn`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        let other = try observe(realm, "value >= 0")
        let start = version(realm)
        var first = start
        for value in 2..<5 {
            try realm.setValue(value)
            if value == 2 { first = version(realm) }
            #expect(try other.events().count == 1)
        }
        let answer = catchUp(realm, slow)
        #expect(eventually(seconds: 20) { workers.count == 1 && slow.listener.behind == start })
        #expect(!answer.isSet && slow.listener.take().isEmpty)
        #expect(workers.answer(answer))
        #expect(try answer.wait().get().token.version == version(realm))
        let events = slow.listener.take()
        #expect(events.map(\.from.token.version) == [start, first])
        #expect(events.map(\.to.token.version) == [first, version(realm)])
        #expect(slow.listener.behind == nil)
        try realm.finish()
    }

    @Test func `each client has one evaluation at a time, and a shared target uses the first turn that comes`() throws {
        let realm = try realm()
        let (a, b) = (WaitingWorkers(), WaitingWorkers())
        let first = try observe(realm, "value > 0", [a.thread("a")])
        let second = try observe(realm, "value > -1", [a.thread("a")])
        let shared = try observe(realm, "value > -2", [a.thread("a"), b.thread("b")])
        try realm.setValue(2)
        #expect(eventually(seconds: 20) { a.count == 1 && b.count == 1 })
        b.work()
        #expect(eventually(seconds: 20) { shared.listener.behind == nil })
        #expect(shared.listener.take().count == 1)
        #expect(first.listener.take().isEmpty && second.listener.take().isEmpty)
        a.work()
        #expect(eventually(seconds: 20) { a.count == 1 })
        #expect(first.listener.take().count == 1)
        a.work()
        #expect(eventually(seconds: 20) { second.listener.take().count == 1 })
        try realm.finish()
    }

    @Test func `after one evaluation that took long for the first time, those that follow are left to others`() throws {
        let realm = try realm {
            $0.delayedTime = .seconds(100)
            $0.roundTime = .zero
        }
        let workers = WaitingWorkers()
        let observed = try ["a", "b", "c"].enumerated().map { index, client in
            try observe(realm, "value > \(-index)", [workers.thread(client)])
        }
        try realm.setValue(2)
        #expect(eventually(seconds: 20) { workers.count == 2 })
        #expect(observed.map { $0.listener.take().count } == [1, 0, 0])
        workers.work()
        for late in observed.dropFirst() {
            #expect(try catchUp(realm, late).wait().get().token.version == version(realm))
            #expect(late.listener.take().count == 1)
        }
        try realm.finish()
    }

    @Test func `a marked commit is a change of its own`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        try realm.setValue(2)
        let before = version(realm)
        try realm.setValue(3, mark: CommitMark(listeners: [ObjectIdentifier(slow.listener)]) { _, _ in })
        let marked = version(realm)
        try realm.setValue(4)
        let answer = catchUp(realm, slow)
        #expect(workers.answer(answer))
        let events = slow.listener.take()
        #expect(events.map(\.to.token.version) == [before, marked, version(realm)])
        #expect(events.dropFirst().map(\.from.token.version) == [before, marked])
        try realm.finish()
    }

    /// Writes with `Realm-Without-Notifying` of one client had all others read again what takes long.
    @Test func `commits that are marked for another are one change, however many they are`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        let named = try observe(realm, "value >= 0")
        for value in 2..<32 {
            try realm.setValue(value, mark: CommitMark(listeners: [ObjectIdentifier(named.listener)]) { _, _ in })
        }
        #expect(try named.events().count == 30)
        let answer = catchUp(realm, slow)
        #expect(workers.answer(answer))
        let events = slow.listener.take()
        #expect((1...2).contains(events.count) && events.allSatisfy { $0.change.rows != nil })
        #expect(events.last?.to.token.version == version(realm))
        try realm.finish()
    }

    @Test func `beyond the limit of marked commits, the writer learns which are joined, and no change is lost`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        let listener = ObjectIdentifier(slow.listener)
        let alone = Monitor<[UInt64]>([])
        let count = Monitor<Int>(0)
        for value in 2..<32 {
            try realm.setValue(
                value,
                mark: CommitMark(listeners: [listener]) { version, missed in
                    if !missed.contains(listener) { alone.withLock { $0.append(version) } }
                    count.broadcast { $0 += 1 }
                })
        }
        let answer = catchUp(realm, slow)
        #expect(workers.answer(answer))
        #expect(count.withLock { $0 } == 30)
        let events = slow.listener.take()
        #expect(events.allSatisfy { $0.change.rows != nil } && events.last?.to.token.version == version(realm))
        let versions = alone.withLock { $0 }
        #expect((1..<30).contains(versions.count))
        for version in versions {
            #expect(events.contains { $0.to.token.version == version && $0.from.token.version == version - 1 })
        }
        try realm.finish()
    }

    /// Each write with `Realm-Without-Notifying` cost all readers of what it named up to two evaluations.
    @Test(arguments: [ObservationLimits().roundTime * 1000, .zero])
    func `others who read the same target wait for its marked commits for a short time only`(_ time: Duration) throws {
        let realm = try realm { $0.roundTime = time }
        let workers = WaitingWorkers()
        let other = try observe(realm, "value > 0", [workers.thread("b")])
        let named = try observe(realm, "value > 0", [workers.thread("a")])
        let listener = ObjectIdentifier(named.listener)
        let (marked, missed) = (Monitor<Set<UInt64>>([]), Monitor<Set<UInt64>>([]))
        try realm.setValue(2)
        #expect(eventually(seconds: 20) { workers.count == 2 })
        let first = version(realm)
        for value in 3..<7 {
            try realm.setValue(value)
            try realm.setValue(
                value + 10,
                mark: CommitMark(listeners: [listener]) { version, listeners in
                    marked.withLock { _ = $0.insert(version) }
                    if listeners.contains(listener) { missed.withLock { _ = $0.insert(version) } }
                })
        }
        let answer = catchUp(realm, other)
        #expect(workers.answer(answer))
        let events = other.listener.take()
        #expect(events.map(\.to.token.version) == (time == .zero ? [first, version(realm)] : Array(first...version(realm))))
        #expect(named.listener.take().count == events.count)
        // The writer begins anew, unless it was told a change of its own.
        #expect(marked.withLock(\.count) == 4)
        #expect(missed.withLock(\.count) == (time == .zero ? 4 : 0))
        try realm.finish()
    }

    /// A client that marked all of its commits, and alone read what takes long, had it evaluated for each of them: it got a reset for
    /// most, and was seconds behind.
    @Test func `marked commits of one client that follow each other are one change`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        let listener = ObjectIdentifier(slow.listener)
        let missed = Monitor<Int>(0)
        func mark(_ name: String) -> CommitMark {
            CommitMark(skips: [name], listeners: [listener]) { _, listeners in
                if listeners.contains(listener) { missed.withLock { $0 += 1 } }
            }
        }
        try realm.setValue(2)
        let first = version(realm)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        for value in 3..<33 { try realm.setValue(value, mark: mark("a/h")) }
        let own = version(realm)
        try realm.setValue(34, mark: mark("b/h"))
        let other = version(realm)
        try realm.setValue(35)
        for value in 36..<40 { try realm.setValue(value, mark: mark("a/h")) }
        let answer = catchUp(realm, slow)
        #expect(workers.answer(answer))
        let events = slow.listener.take()
        #expect(events.map(\.to.token.version) == [first, own, other, other + 1, version(realm)])
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.to.token.version == $1.from.token.version })
        #expect(missed.withLock { $0 } == 0)
        try realm.finish()
    }

    @Test func `no version is kept for longer than an evaluation may take, and then the contents are read again`() throws {
        let realm = try realm { $0.evaluationTime = .seconds(4) }
        let workers = WaitingWorkers()
        let listener = RecordingListener(threads: [workers.thread("a")])
        let attachment = try realm.attach("value > 0", listener, isActive: true)
        try realm.setValue(2)
        try realm.setValue(0)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        #expect(realm.database.oldestPinned > .zero)
        #expect(eventually(seconds: 20) { realm.database.oldestPinned == .zero })
        let answer = Awaited<Result<Attached, ObservationError>>()
        realm.database.observations.contents(of: attachment) { answer.set($0) }
        #expect(workers.answer(answer))
        let events = listener.take()
        #expect(events.count == 1)
        guard case .unknown? = events.first?.change, case .rows(_, let keys) = try answer.wait().get().contents else {
            Issue.record("\(events)")
            return
        }
        #expect(keys.count == 9)
        try realm.finish()
    }

    @Test func `several that take long can be brought to one version while commits go on`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try (0..<3).map { try observe(realm, "value > \(-$0)", [workers.thread("a")]) }
        try realm.setValue(2)
        let common = realm.database.current
        let answers = slow.map { catchUp(realm, $0, at: common) }
        for value in 3..<20 where !answers.allSatisfy(\.isSet) {
            try realm.setValue(value)
            _ = eventually(seconds: 20) { workers.count == 1 || answers.allSatisfy(\.isSet) }
            workers.work()
        }
        for answer in answers { #expect(try answer.wait().get().token.version == common.token.version) }
        try realm.finish()
    }

    /// Readers of several were reset, as each of their versions was within a change of another target.
    @Test func `the targets of one client reach common versions while commits go on`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try (0..<3).map { try observe(realm, "value > \(-$0)", [workers.thread("a")]) }
        for value in 2..<30 {
            try realm.setValue(value)
            #expect(eventually(seconds: 20) { workers.count == 1 })
            workers.work()
        }
        let ends = slow.map { Set($0.listener.take().map(\.to.token.version)) }
        let common = ends.dropFirst().reduce(ends[0]) { $0.intersection($1) }
        #expect(common.count > 2, "\(ends)")
        try realm.finish()
    }

    @Test func `who waits for too long is answered, and the others go on waiting`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        try realm.setValue(2)
        let other = catchUp(realm, slow)
        guard case .failure(.query(.cancelled)) = try catchUp(realm, slow, until: .now().adding(seconds: 0.1)).wait(seconds: 20)
        else {
            Issue.record("it was not answered in time")
            return
        }
        #expect(!other.isSet)
        workers.work()
        #expect(try other.wait().get().token.version == version(realm))
        try realm.finish()
    }

    @Test func `a call that is not wanted any more is answered soon, though no thread comes`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let observed = try observe(realm, "value > 0", [workers.thread("a")])
        try realm.setValue(2)
        let hasLeft = Monitor(false)
        let left = catchUp(realm, observed, until: Instant.now().adding(seconds: 600)) { hasLeft.withLock { !$0 } }
        let other = catchUp(realm, observed)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        #expect(!left.isSet)
        hasLeft.broadcast { $0 = true }
        #expect(eventually(seconds: 5) { left.isSet })
        #expect(throws: ObservationError.self) { try left.wait().get() }
        #expect(workers.answer(other))
        #expect(try other.wait().get().token.version == version(realm))
        try realm.finish()
    }

    /// The turns of a client whose threads are busy kept all definitions that it had observed before.
    @Test func `nothing is left of one that has ended, though its turn comes later or never`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        weak var probe: RecordingListener?
        for round in 0..<3 {
            let listener = RecordingListener(threads: [workers.thread("a")])
            let attachment = try realm.attach("value > 0", listener, isActive: true)
            try realm.setValue(2 + round)
            #expect(eventually(seconds: 20) { workers.count == round + 1 })
            probe = listener
            realm.database.observations.detach(attachment)
        }
        #expect(eventually(seconds: 20) { probe == nil })
        let held = Awaited<Int>()
        realm.database.observations.perform { held.set(realm.database.observations.metrics.held.count) }
        #expect(try held.wait() == 0)
        workers.work()
        try realm.finish()
    }

    @Test func `who attaches meanwhile begins with the version that it has reached`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        try realm.setValue(0)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        let table = try #require(realm.database.current.snapshot.classTable(named: "Node"))
        let target = ObservedTarget(.results(table.key, ObservedQuery(try Query.parse("value > 0"))), identity: "value > 0")
        var admission = ObservedMemory.Admission()
        admission.runElsewhere = { _ in true }
        let answer = Awaited<Result<Attached, ObservationError>>()
        let late = RecordingListener(threads: [workers.thread("b")])
        realm.database.observations.attach(target, late, isActive: true, admission) { answer.set($0) }
        workers.work()
        let attached = try answer.wait().get()
        guard case .rows(_, let keys) = attached.contents else {
            Issue.record("these are no rows")
            return
        }
        #expect(keys.count == 9)
        #expect(attached.version.token.version == version(realm))
        #expect(late.take().isEmpty)
        #expect(slow.listener.take().count == 1)
        try realm.finish()
    }

    @Test func `who waits is answered when the database is closed`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let slow = try observe(realm, "value > 0", [workers.thread("a")])
        try realm.setValue(0)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        let answer = catchUp(realm, slow)
        try realm.finish()
        guard case .failure(.closed) = try answer.wait(seconds: 20) else {
            Issue.record("it waits for what has ended")
            return
        }
        guard case .closed? = slow.listener.error else {
            Issue.record("\(String(describing: slow.listener.error))")
            return
        }
        workers.work()
    }
}
