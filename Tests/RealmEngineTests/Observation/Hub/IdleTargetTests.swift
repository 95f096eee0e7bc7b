// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// The definitions of a client that had left kept most of a processor busy for minutes, and a version each.
@Suite("Observation: idle targets that take long")
struct IdleTargetTests {
    /// Takes a while for each event.
    private final class Slow: ObservationListener {
        let threads: [EvaluationThread]
        let seconds: Double
        private let monitor = Monitor(0)

        init(_ threads: [EvaluationThread], seconds: Double) {
            self.threads = threads
            self.seconds = seconds
        }

        var count: Int { monitor.withLock { $0 } }

        func prepare(_ event: ObservationEvent) -> @Sendable () -> Void {
            Threads.sleep(seconds: seconds)
            monitor.broadcast { $0 += 1 }
            return {}
        }

        func didChange(_ event: ObservationEvent) {}
        func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
        func didFail(_ error: ObservationError) {}
    }

    /// A thread of a client that works at once.
    private static let eager = EvaluationThread(client: ByteText("a")) { work in
        Threads.spawn("evaluation", work)
        return true
    }

    private func realm(_ change: (inout ObservationLimits) -> Void) throws -> EngineRealm {
        var limits = ObservationLimits()
        // Every evaluation counts as a long one.
        limits.delayedTime = .seconds(-1)
        change(&limits)
        return try EngineRealm.ofNodes(10, limits)
    }

    /// The versions that the hub keeps, once it has done all that waits.
    private func held(_ realm: EngineRealm) throws -> Int {
        var count = 0
        // The first call may come in the same round as the last commit.
        for _ in 0..<2 {
            let held = Awaited<Int>()
            realm.database.observations.perform { held.set(realm.database.observations.metrics.held.count) }
            count = try held.wait(seconds: 20)
        }
        return count
    }

    @Test func `all of them together take a small part of a processor and keep few versions`() throws {
        let realm = try realm { $0.passiveTime = .milliseconds(10) }
        let listeners = (0..<12).map { _ in Slow([IdleTargetTests.eager], seconds: 0.01) }
        let attachments = try listeners.enumerated().map { index, listener in
            try realm.attach("value > \(-index)", listener, isActive: false)
        }
        let begin = Instant.now()
        let end = begin.adding(seconds: 3)
        var most = 0
        var value = 2
        while Instant.now() < end {
            try realm.setValue(value)
            value += 1
            most = max(most, try held(realm))
            Threads.sleep(seconds: 0.005)
        }
        let seconds = Instant.now().duration(since: begin) / Duration.seconds(1)
        let count = listeners.reduce(0) { $0 + $1.count }
        #expect(Double(count) * 0.01 < seconds / 5, "\(count) evaluations in \(seconds) s")
        #expect(most <= 8, "\(most) versions")
        withExtendedLifetime(attachments) {}
        try realm.finish()
    }

    private func contents(_ realm: EngineRealm, _ attachment: RealmEngine.Attachment) -> Awaited<
        Result<Attached, ObservationError>
    > {
        let answer = Awaited<Result<Attached, ObservationError>>()
        realm.database.observations.contents(of: attachment) { answer.set($0) }
        return answer
    }

    @Test(arguments: [true, false])
    func `one that was not evaluated in time, or keeps too many versions, drops them until a call comes`(_ isLate: Bool) throws {
        let realm = try realm {
            if isLate { $0.evaluationTime = .seconds(2) } else { $0.passiveVersions = 0 }
            $0.passiveCommits = 2
            $0.passiveTime = .seconds(60)
        }
        let workers = WaitingWorkers()
        let listeners = (0..<2).map { _ in RecordingListener(threads: [workers.thread("a")]) }
        let attachments = try listeners.enumerated().map { index, listener in
            try realm.attach("value > \(-index)", listener, isActive: false)
        }
        for value in 2..<8 {
            try realm.setValue(value)
            _ = try held(realm)
        }
        #expect(eventually(seconds: 20) { (try? held(realm)) == 0 })
        for value in 8..<12 { try realm.setValue(value) }
        #expect(try held(realm) == 0 && workers.count <= (isLate ? 1 : 0))
        let answers = attachments.map { contents(realm, $0) }
        #expect(workers.answer(answers))
        for (answer, listener) in zip(answers, listeners) {
            guard case .rows(_, let keys) = try answer.wait().get().contents, case .unknown? = listener.take().last?.change else {
                Issue.record("its contents were not read again")
                return
            }
            #expect(keys.count == 10)
        }
        try realm.finish()
    }

    /// Who came back to several had each of them read at another version, and then evaluated for the others.
    @Test(arguments: [false, true])
    func `several that have dropped their versions are read once, at one version, while commits go on`(_ isLate: Bool) throws {
        let realm = try realm {
            if isLate { $0.evaluationTime = .seconds(1) }
            $0.passiveVersions = 0
            $0.passiveTime = .seconds(60)
        }
        let workers = WaitingWorkers()
        let listeners = (0..<3).map { _ in RecordingListener(threads: [workers.thread("a")]) }
        let attachments = try listeners.enumerated().map { index, listener in
            try realm.attach("value > \(-index)", listener, isActive: false)
        }
        for value in 2..<8 {
            try realm.setValue(value)
            _ = try held(realm)
        }
        #expect(eventually(seconds: 20) { (try? held(realm)) == 0 })
        for listener in listeners { _ = listener.take() }
        let goal = realm.database.current
        // Others are at the version of the call, and there was another commit before it.
        try realm.setValue(8)
        _ = try held(realm)
        let answers = attachments.map { attachment in
            let answer = Awaited<Result<Attached, ObservationError>>()
            realm.database.observations.contents(of: attachment, at: goal) { answer.set($0) }
            return answer
        }
        // No version is kept for longer, unless somebody waits for it.
        if isLate { Threads.sleep(seconds: 1.5) }
        for value in 9..<30 where !answers.allSatisfy(\.isSet) {
            try realm.setValue(value)
            _ = eventually(seconds: 20) { workers.count == 1 || answers.allSatisfy(\.isSet) }
            workers.work()
        }
        for (answer, listener) in zip(answers, listeners) {
            #expect(try answer.wait().get().version.token == goal.token)
            let events = listener.take()
            #expect(events.count == 1 && events.first?.to.token == goal.token)
            #expect(listener.restarts > 0)
        }
        try realm.finish()
    }

    @Test func `one that is evaluated in time has the changes for who comes back`() throws {
        let realm = try realm {
            $0.passiveCommits = 2
            $0.passiveTime = .milliseconds(10)
        }
        let workers = WaitingWorkers()
        let listener = RecordingListener(threads: [workers.thread("a")])
        let attachment = try realm.attach("value > 0", listener, isActive: false)
        for value in 2..<12 { try realm.setValue(value) }
        let answer = contents(realm, attachment)
        #expect(workers.answer(answer))
        let events = listener.take()
        #expect(!events.isEmpty && events.allSatisfy { $0.change.rows != nil })
        try realm.finish()
    }
}
