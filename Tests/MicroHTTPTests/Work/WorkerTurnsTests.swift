// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite struct WorkerTurnsTests {
    /// Adds a job that does nothing.
    private func add(_ turns: inout WorkerTurns, _ client: String, isAdmitted: Bool = false) -> Bool {
        turns.add({}, of: client, isAdmitted: isAdmitted)
    }

    private func expect(_ value: Bool, is wanted: Bool, at location: SourceLocation = #_sourceLocation) {
        #expect(value == wanted, sourceLocation: location)
    }

    private func size(threads: Int = 8, perClient: Int = 2, queue: Int = 100, queuePerClient: Int = 50) -> WorkerPool.Size {
        WorkerPool.Size(threads: threads, threadsPerClient: perClient, queue: queue, queuePerClient: queuePerClient)
    }

    @Test func `clients take turns whatever one of them queued before`() {
        var turns = WorkerTurns(size())
        for _ in 0..<20 { expect(add(&turns, "many", isAdmitted: false), is: true) }
        expect(add(&turns, "few", isAdmitted: false), is: true)
        var order: [String?] = []
        for _ in 0..<3 { order.append(turns.dequeue()?.client) }
        #expect(order == ["many", "few", "many"])
        // Both shares of the first are taken: the rest waits, whoever has time.
        let none = turns.dequeue()
        #expect(none == nil)
        #expect(turns.waiting == 18)
        turns.finish("many")
        let next = turns.dequeue()?.client
        #expect(next == "many")
    }

    @Test func `the queue of one client ends before that of all`() {
        var turns = WorkerTurns(size(queue: 5, queuePerClient: 3))
        for _ in 0..<3 { expect(add(&turns, "a", isAdmitted: false), is: true) }
        expect(add(&turns, "a", isAdmitted: false), is: false)
        for _ in 0..<2 { expect(add(&turns, "b", isAdmitted: false), is: true) }
        expect(add(&turns, "c", isAdmitted: false), is: false)
        // What was let in before goes on.
        expect(add(&turns, "c", isAdmitted: true), is: true)
    }

    @Test func `what could run is counted as it changes`() {
        var turns = WorkerTurns(size(perClient: 2))
        for _ in 0..<5 { _ = add(&turns, "a") }
        #expect(turns.startable == 2)
        _ = add(&turns, "b")
        #expect(turns.startable == 3)
        _ = turns.dequeue()
        #expect(turns.startable == 2)
        turns.finish("a")
        #expect(turns.startable == 3)
        #expect(turns.has("a") && turns.has("b") && !turns.has("c"))
    }

    @Test func `a client whose jobs never end leaves threads for others`() throws {
        let pool = WorkerPool(name: "test", size(threads: 4, perClient: 2))
        try pool.start()
        let gate = Monitor(false)
        let stuck = Tally()
        for _ in 0..<20 {
            let isQueued = pool.submit(for: "slow") { [stuck] in
                stuck.add(1)
                _ = gate.wait { $0 ? true : nil }
            }
            #expect(isQueued)
        }
        let answered = Monitor(0)
        for _ in 0..<10 { _ = pool.submit(for: "quick") { answered.broadcast { $0 += 1 } } }
        #expect(answered.wait(until: .now().adding(seconds: 30)) { $0 == 10 ? true : nil } == true)
        #expect(stuck.count == 2)
        #expect(pool.threadCount <= 4)
        #expect(pool.isBusy(for: "slow"))
        gate.broadcast { $0 = true }
        #expect(eventually { stuck.count == 20 && !pool.isBusy(for: "slow") })
        pool.close()
        let isQueued = pool.submit(for: "slow") {}
        #expect(!isQueued)
    }

    @Test func `threads are made when there is work for them`() throws {
        let pool = WorkerPool(name: "test", size(threads: 6, perClient: 6))
        try pool.start()
        for _ in 0..<50 {
            let done = Monitor(false)
            _ = pool.submit(for: "a") { done.broadcast { $0 = true } }
            _ = done.wait { $0 ? true : nil }
            // A thread that has just done its job rests a moment later.
            #expect(eventually { !pool.isBusy(for: "a") })
            Threads.sleep(seconds: 0.005)
        }
        #expect(pool.threadCount <= 4)
        pool.close()
    }
}

/// Counts across threads.
final class Tally: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }
    func add(_ count: Int) { value.add(count, ordering: .relaxed) }
}
