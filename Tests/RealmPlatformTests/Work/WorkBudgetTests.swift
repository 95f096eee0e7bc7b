// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import Testing

@Suite struct WorkBudgetTests {
    private func stop(_ budget: WorkBudget, afterUnits units: Int) -> WorkStop? {
        for _ in 0..<units {
            do throws(StorageError) { try budget.spend() } catch {
                guard case .stopped(let stop) = error else { return nil }
                return stop
            }
        }
        return nil
    }

    @Test func `spending looks at the clock now and then`() {
        let budget = WorkBudget(deadline: .now())
        #expect(stop(budget, afterUnits: 10) == nil)
        #expect(stop(budget, afterUnits: 100_000) == .expired)
        #expect(budget.stop == .expired)
    }

    @Test func `a budget with time left is spent without end`() {
        #expect(stop(WorkBudget(deadline: Instant.now().adding(seconds: 60)), afterUnits: 1_000_000) == nil)
    }

    @Test func `who cancels ends the work`() {
        let budget = WorkBudget()
        budget.cancel()
        #expect(stop(budget, afterUnits: 100_000) == .cancelled)
    }

    @Test func `work is handed over once and goes on elsewhere`() {
        let budget = WorkBudget(deadline: Instant.now().adding(seconds: 60))
        budget.handOverAt = .now()
        #expect(stop(budget, afterUnits: 100_000) == .handOver)
        budget.beginAnew()
        #expect(budget.stop == nil)
        #expect(stop(budget, afterUnits: 100_000) == nil)
    }

    @Test func `the question whether somebody waits is asked later`() {
        let budget = WorkBudget()
        budget.isStillWanted = { false }
        #expect(budget.continues)
        Threads.sleep(seconds: 0.3)
        #expect(!budget.continues)
        #expect(budget.stop == .cancelled)
    }

    @Test func `memory is taken while an answer grows`() throws {
        let budget = WorkBudget()
        let taken = RankedMutex(.leaf, 0)
        budget.byteLimit = 10 << 20
        budget.takesRoom = { byteCount in
            taken.withLock { $0 += byteCount }
            return taken.withLock { $0 } > 4 << 20 ? .noRoom(limit: 4 << 20, ofPrincipal: false) : nil
        }
        try budget.requireRoom(for: 1 << 20)
        #expect(taken.withLock { $0 } == 0)
        for count in stride(from: 1 << 20, through: 5 << 20, by: 1000) { try budget.requireRoom(for: count) }
        #expect(taken.withLock { $0 } == 4 << 20)
        #expect(throws: StorageError.stopped(.noRoom(limit: 4 << 20, ofPrincipal: false))) {
            try budget.requireRoom(for: (5 << 20) + 1)
        }
        #expect(throws: StorageError.stopped(.tooManyBytes(limit: 10 << 20))) { try budget.requireRoom(for: 11 << 20) }
    }

    @Test func `amounts have bounds`() throws {
        let budget = WorkBudget()
        budget.byteLimit = 100
        budget.objectLimit = 2
        try budget.requireRoom(for: 100)
        #expect(throws: StorageError.stopped(.tooManyBytes(limit: 100))) { try budget.requireRoom(for: 101) }
        try budget.follow()
        try budget.follow()
        #expect(throws: StorageError.stopped(.tooManyObjects(limit: 2))) { try budget.follow() }
        budget.beginPart(at: 0)
        try budget.follow()
    }
}
