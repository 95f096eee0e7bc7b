// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Whoever came second waited for the worker of the one who came first, however long that took and whatever its own deadline was.
@Suite("Observation: first evaluations that several wait for")
struct SharedEvaluationTests {
    private typealias Answer = Awaited<Result<Attached, ObservationError>>

    private func realm() throws -> EngineRealm {
        let realm = try EngineRealm(ObservationWorkload.classes)
        try add(0..<5, to: realm)
        return realm
    }

    private func add(_ ids: Range<Int64>, to realm: EngineRealm) throws {
        for id in ids {
            try realm.write { session in
                _ = try session.create("Node", ["_id": .integer(id), "value": .integer(id), "group": .text("g")])
            }
        }
    }

    /// Has a client with its own workers observe the same target as all others.
    private func attach(
        _ realm: EngineRealm, _ workers: WaitingWorkers, seconds: Double? = nil, isWanted: (@Sendable () -> Bool)? = nil
    ) throws -> Answer {
        let table = try #require(realm.database.current.snapshot.classTable(named: "Node"))
        let target = ObservedTarget(.results(table.key, ObservedQuery(try Query.parse("value >= 0"))), identity: "shared")
        var admission = ObservedMemory.Admission()
        if let seconds { admission.deadline = Instant.now().adding(seconds: seconds) }
        admission.isWanted = isWanted
        admission.runElsewhere = { work in
            workers.add(work)
            return true
        }
        let answer = Answer()
        realm.database.observations.attach(target, RecordingListener(), isActive: false, admission) { answer.set($0) }
        return answer
    }

    private func count(_ answer: Answer) throws -> Int? {
        guard case .rows(_, let keys) = try answer.wait().get().contents else { return nil }
        return keys.count
    }

    private func isCancelled(_ answer: Answer) throws -> Bool {
        if case .failure(.query(.cancelled)) = try answer.wait(seconds: 30) { return true } else { return false }
    }

    @Test func `the first worker that comes makes it for all`() throws {
        let realm = try realm()
        let (busy, free) = (WaitingWorkers(), WaitingWorkers())
        let first = try attach(realm, busy)
        let second = try attach(realm, free)
        #expect(eventually(seconds: 20) { busy.count == 1 && free.count == 1 })
        free.work()
        #expect(try count(second) == 5)
        #expect(try count(first) == 5)
        // Nothing is left to do.
        busy.work()
        #expect(try count(try attach(realm, busy)) == 5)
        try realm.finish()
    }

    @Test(arguments: [true, false])
    func `each one waits until its own deadline`(_ isFirstLate: Bool) throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let first = try attach(realm, workers, seconds: isFirstLate ? 0.2 : nil)
        let second = try attach(realm, workers, seconds: isFirstLate ? nil : 0.2)
        #expect(try isCancelled(isFirstLate ? first : second))
        workers.work()
        #expect(try count(isFirstLate ? second : first) == 5)
        try realm.finish()
    }

    /// A client with other rights by then used to wait for its turn until its deadline.
    @Test func `a client that is not wanted any more is told soon, though no worker comes`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let hasLeft = Monitor(false)
        let first = try attach(realm, workers, seconds: 600) { hasLeft.withLock { !$0 } }
        let second = try attach(realm, workers, seconds: 600)
        #expect(eventually(seconds: 20) { workers.count == 2 })
        #expect(!first.isSet)
        hasLeft.broadcast { $0 = true }
        #expect(eventually(seconds: 5) { first.isSet })
        #expect(try isCancelled(first))
        workers.work()
        #expect(try count(second) == 5)
        try realm.finish()
    }

    @Test func `after everybody has given up, the next one begins again`() throws {
        let realm = try realm()
        let (busy, free) = (WaitingWorkers(), WaitingWorkers())
        #expect(try isCancelled(try attach(realm, busy, seconds: 0.1)))
        let next = try attach(realm, free)
        #expect(eventually(seconds: 20) { free.count == 1 })
        busy.work()
        #expect(!next.isSet)
        free.work()
        #expect(try count(next) == 5)
        try realm.finish()
    }

    @Test func `until a worker comes it keeps no version, and then it begins at the newest`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let answer = try attach(realm, workers)
        #expect(eventually(seconds: 20) { workers.count == 1 })
        try add(5..<25, to: realm)
        #expect(eventually(seconds: 20) { realm.database.oldestPinned == .zero })
        workers.work()
        #expect(try count(answer) == 25)
        #expect(try answer.wait().get().version.token == realm.database.current.token)
        try realm.finish()
    }

    @Test func `those who wait are answered when the database is closed`() throws {
        let realm = try realm()
        let workers = WaitingWorkers()
        let answers = [try attach(realm, workers), try attach(realm, workers)]
        #expect(eventually(seconds: 20) { workers.count >= 1 })
        try realm.finish()
        for answer in answers {
            guard case .failure(.closed) = try answer.wait(seconds: 20) else {
                Issue.record("an observation began")
                return
            }
        }
        workers.work()
    }
}
