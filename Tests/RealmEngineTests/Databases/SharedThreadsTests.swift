// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmEngine

/// Threads that many realms use by turns.
@Suite struct SharedThreadsTests {
    /// Counts tasks that run and that have ended.
    private final class Tally: Sendable {
        private let monitor = Monitor((running: 0, most: 0, ended: 0))

        /// Runs a body as one more task.
        func run(_ body: () -> Void) {
            monitor.broadcast { counts in
                counts.running += 1
                counts.most = max(counts.most, counts.running)
            }
            body()
            monitor.broadcast { counts in
                counts.running -= 1
                counts.ended += 1
            }
        }

        /// Waits until so many tasks run at the same time; false after 10 seconds.
        func waitForRunning(_ count: Int) -> Bool {
            monitor.wait(until: .now().adding(seconds: 10)) { $0.running >= count ? true : nil } ?? false
        }

        /// Waits until so many tasks have ended; returns the greatest number that ran together.
        func waitForEnd(_ count: Int) -> Int? {
            monitor.wait(until: .now().adding(seconds: 10)) { $0.ended >= count ? $0.most : nil }
        }
    }

    @Test func `no more tasks run together than there may be threads, and all of them run`() throws {
        let threads = SharedThreads(name: "test", limit: 3, rest: .milliseconds(50))
        let tally = Tally()
        for _ in 0..<200 { try threads.submit { tally.run { Threads.sleep(seconds: 0.001) } } }
        #expect(tally.waitForEnd(200) == 3)
        #expect(threads.waitingCount == 0)
        #expect(eventually { threads.threadCount == 0 })
        try threads.submit { tally.run {} }
        #expect(tally.waitForEnd(201) != nil)
    }

    @Test func `a task that waits outside leaves its place to another`() throws {
        let threads = SharedThreads(name: "test", limit: 1, rest: .milliseconds(50))
        let tally = Tally()
        let gate = Monitor(false)
        for _ in 0..<3 {
            try threads.submit {
                let isGranted: Void? = threads.occupying { tally.run { _ = gate.wait { $0 ? true : nil } } }
                #expect(isGranted != nil)
            }
        }
        #expect(tally.waitForRunning(3))
        let other = Tally()
        try threads.submit { other.run {} }
        #expect(other.waitForEnd(1) == 1)
        gate.broadcast { $0 = true }
        #expect(tally.waitForEnd(3) == 3)
        #expect(eventually { threads.threadCount == 0 })
    }

    @Test func `more realms than threads write and observe by turns`() throws {
        let realms = try (0..<40).map { _ in try EngineRealm(TestSchema.counters) }
        for realm in realms { try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(0)]) } }
        let tally = Tally()
        for round in 1...5 {
            for realm in realms {
                realm.database.write(
                    EngineRealm.request(),
                    { session in
                        _ = try session.increment("Counter", .text("1"), PropertyAddress("n"), by: .integer(1))
                        Threads.sleep(seconds: 0.001)
                    },
                    completion: { (result: Result<WriteReceipt<Void>, WriteError>) in
                        tally.run {}
                        if case .failure(let error) = result { Issue.record("\(error)") }
                    })
            }
            #expect(tally.waitForEnd(round * realms.count) != nil)
        }
        for realm in realms {
            #expect(try realm.show("Counter", 1) == "{_id:1 n:5}")
            realm.database.close()
        }
    }
}
