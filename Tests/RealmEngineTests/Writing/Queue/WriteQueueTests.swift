// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite struct WriteQueueTests {
    private func realm(_ limits: WriteLimits = WriteLimits()) throws -> EngineRealm {
        let realm = try EngineRealm(TestSchema.counters, limits: limits)
        try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
        return realm
    }

    @Sendable private static func add(_ session: WriteSession) throws { try add(1, session) }

    @Sendable private static func add(_ amount: Int64, _ session: WriteSession) throws {
        _ = try session.increment("Counter", .text("1"), PropertyAddress("n"), by: .integer(amount))
    }

    /// Keeps the writer busy until it is let go.
    private final class Gate: Sendable {
        private let monitor = Monitor((isEntered: false, isOpen: false))

        func block() {
            monitor.broadcast { $0.isEntered = true }
            _ = monitor.wait { $0.isOpen ? true : nil }
        }
        func waitUntilEntered() { _ = monitor.wait { $0.isEntered ? true : nil } }
        func open() { monitor.broadcast { $0.isOpen = true } }
    }

    private func hold(_ realm: EngineRealm) -> (Gate, Awaited<Bool>) {
        let gate = Gate()
        let done = Awaited<Bool>()
        realm.database.write(EngineRealm.request()) { _ in
            gate.block()
        } completion: { _ in
            done.set(true)
        }
        gate.waitUntilEntered()
        return (gate, done)
    }

    @Test func `writes that wait share one version`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let answers = (0..<20).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for answer in answers { realm.database.write(EngineRealm.request(), Self.add) { answer.set($0) } }
        #expect(realm.database.pendingWrites == 21)
        let before = realm.database.current.token.version
        gate.open()
        _ = try held.wait()
        let versions = try Set(answers.map { try $0.wait().get().version.token.version })
        #expect(versions == [before + 1])
        #expect(try realm.show("Counter", 1) == "{_id:1 n:20}")
        try realm.finish()
    }

    /// A write arrives while another one is being applied, which was alone until then and has no savepoint.
    @Test(arguments: [false, true], [false, true])
    func `a write that arrives in time joins the commit of another`(firstFails: Bool, secondFails: Bool) throws {
        struct Refused: Error {}
        let realm = try realm()
        let before = realm.database.current.token.version
        let database = realm.database
        for attempt in 1...50 {
            let second = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            let first = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            database.write(EngineRealm.request()) { session in
                try Self.add(10, session)
                database.write(EngineRealm.request()) { session in
                    try Self.add(1, session)
                    if secondFails { _ = try session.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
                } completion: {
                    second.set($0)
                }
                if firstFails { _ = try session.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
            } completion: {
                first.set($0)
            }
            let (one, two) = try (first.wait(), second.wait())
            #expect(((try? one.get()) == nil) == firstFails && ((try? two.get()) == nil) == secondFails)
            let sum = attempt * ((firstFails ? 0 : 10) + (secondFails ? 0 : 1))
            #expect(try realm.show("Counter", 1) == "{_id:1 n:\(sum)}")
        }
        // Most pairs share a version; on a busy machine the first one may take too long.
        let versions = realm.database.current.token.version - before
        let commits: ClosedRange<UInt64> = firstFails && secondFails ? 0...0 : firstFails || secondFails ? 50...50 : 50...99
        #expect(commits.contains(versions), "\(versions)")
        try realm.finish()
    }

    @Test func `a write that fails leaves its neighbours alone`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let answers = (0..<9).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for (index, answer) in answers.enumerated() {
            realm.database.write(EngineRealm.request()) { session in
                try Self.add(10, session)
                _ = try session.create("Counter", ["_id": .integer(Int64(100 + index)), "n": .integer(0)])
                if index % 3 == 1 { _ = try session.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
            } completion: {
                answer.set($0)
            }
        }
        gate.open()
        _ = try held.wait()
        for (index, answer) in answers.enumerated() {
            let result = try answer.wait()
            if index % 3 == 1 {
                guard case .failure(let error) = result else {
                    Issue.record("no failure")
                    continue
                }
                #expect(error.code == .duplicateKey && error.path.description == "/_id")
            } else {
                #expect((try? result.get()) != nil)
            }
        }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:60}")
        #expect(realm.count("Counter") == 7)
        try realm.finish()
    }

    @Test func `sums are kept by many threads`() throws {
        let realm = try realm()
        let left = Monitor(200)
        for _ in 0..<8 {
            Threads.spawn("adder") {
                for index in 0..<25 {
                    realm.database.write(EngineRealm.request()) { session in
                        try Self.add(session)
                        struct InputError: Error {}
                        if index % 5 == 4 { throw InputError() }
                    } completion: { _ in
                        left.broadcast { $0 -= 1 }
                    }
                }
            }
        }
        _ = left.wait { $0 == 0 ? true : nil }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:160}")
        try realm.finish()
    }

    @Test func `the caller's own errors come back as they were`() throws {
        struct InputError: Error, Equatable { let text: String }
        let realm = try realm()
        let error = realm.failure { _ in throw InputError(text: "x") }
        guard case .caller(let cause)? = error?.cause else { throw InputError(text: "no cause") }
        #expect(error?.code == .caller && cause as? InputError == InputError(text: "x"))
        try realm.finish()
    }

    @Test func `dry runs leave nothing and need no version`() throws {
        let realm = try realm()
        var request = EngineRealm.request()
        request.isDryRun = true
        let before = realm.database.current.token
        let receipt = try realm.write(request) { session in
            try Self.add(session)
            return try session.view().classTable(named: "Counter")?.count ?? 0
        }
        #expect(!receipt.isCommitted && receipt.version.token == before && receipt.value == 1)
        #expect(realm.database.current.token == before)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        #expect(realm.failure(request) { _ = try $0.delete("Counter", .text("9")) }?.code == .objectNotFound)
        try realm.finish()
    }

    @Test func `a write that changes nothing needs no version`() throws {
        let realm = try realm()
        let before = realm.database.current.token
        let receipt = try realm.write { _ in }
        #expect(receipt.isCommitted && receipt.version.token == before)
        try realm.finish()
    }

    @Test func `the newest version counts writes ahead in the same group`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        var conditional = EngineRealm.request()
        conditional.ifVersion = realm.database.current.token.version
        let answers = (0..<3).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for answer in answers { realm.database.write(conditional, Self.add) { answer.set($0) } }
        gate.open()
        _ = try held.wait()
        let succeeded = answers.map { (try? $0.wait().get()) != nil }
        #expect(succeeded == [true, false, false])
        #expect(realm.failure(conditional, Self.add)?.code == .preconditionFailed)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
        try realm.finish()
    }

    @Test func `writes that have not begun can be taken back`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        let ticket = realm.database.write(EngineRealm.request(), Self.add) { answer.set($0) }
        #expect(ticket.cancel() && !ticket.cancel())
        gate.open()
        _ = try held.wait()
        guard case .failure(let error) = try answer.wait() else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .cancelled)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        try realm.finish()
    }

    @Test func `waiting writes that must not be made any more fail at once, and leave their places to others`() throws {
        struct Refused: Error {}
        var limits = WriteLimits()
        limits.queuedJobs = 2
        let realm = try realm(limits)
        let (gate, held) = hold(realm)
        let isOver = Monitor(false)
        let answers = (0..<4).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        let write = { (index: Int, refusal: (@Sendable () -> (any Error)?)?) in
            var request = EngineRealm.request()
            request.refusal = refusal
            realm.database.write(request, Self.add) { answers[index].set($0) }
        }
        write(0) { isOver.withLock { $0 ? Refused() : nil } }
        write(1, nil)
        realm.database.refuseOutdatedWrites()
        #expect(!answers[0].isSet)
        isOver.broadcast { $0 = true }
        realm.database.refuseOutdatedWrites()
        guard case .failure(let error) = try answers[0].wait(), case .caller(let cause) = error.cause, cause is Refused else {
            Issue.record("not refused: \(try answers[0].wait())")
            return
        }
        #expect(realm.database.pendingWrites == 2 && !answers[1].isSet)
        write(2, nil)
        write(3, nil)
        guard case .failure(let excess) = try answers[3].wait(), excess.code == .overloaded else {
            Issue.record("not too many")
            return
        }
        gate.open()
        _ = try held.wait()
        for index in 1...2 { _ = try answers[index].wait().get() }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:2}")
        try realm.finish()
    }

    @Test func `too many waiting writes are refused, late ones fail`() throws {
        var limits = WriteLimits()
        limits.queuedJobs = 2
        let realm = try realm(limits)
        let (gate, held) = hold(realm)
        let answers = (0..<3).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for (index, answer) in answers.enumerated() {
            realm.database.write(EngineRealm.request(seconds: index == 0 ? 0.02 : 30), Self.add) { answer.set($0) }
        }
        guard case .failure(let refused) = try answers[2].wait() else {
            Issue.record("no refusal")
            return
        }
        #expect(refused.code == .overloaded && refused.limit == 2)
        Threads.sleep(seconds: 0.05)
        gate.open()
        _ = try held.wait()
        guard case .failure(let late) = try answers[0].wait() else {
            Issue.record("not late")
            return
        }
        #expect(late.code == .deadlineExceeded)
        _ = try answers[1].wait().get()
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
        try realm.finish()
    }

    /// An import held the writer for minutes, and the writes of all others were answered after it only.
    @Test(arguments: [false, true]) func `a write is answered when its own time is over, whatever holds the writer`(
        inGroup: Bool
    ) throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let inner = Gate()
        let innerDone = Awaited<Bool>()
        if inGroup {
            // The late write is taken together with one that does not end.
            realm.database.write(EngineRealm.request()) { _ in
                inner.block()
            } completion: { _ in
                innerDone.set(true)
            }
        }
        let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        realm.database.write(WriteRequest(deadline: .now().adding(seconds: 0.5)), Self.add) { answer.set($0) }
        let begun = Awaited<Result<TransactionInfo, WriteError>>()
        realm.database.beginTransaction(owner: "me", wait: .seconds(0.5)) { begun.set($0) }
        if inGroup {
            gate.open()
            inner.waitUntilEntered()
        }
        guard case .failure(let error) = try answer.wait(), case .failure(let other) = try begun.wait() else {
            Issue.record("a write that had to wait was done")
            return
        }
        #expect(error.code == .deadlineExceeded && other.code == .writeLockBusy)
        gate.open()
        inner.open()
        _ = try held.wait()
        if inGroup { _ = try innerDone.wait() }
        try realm.write { _ = try Self.add($0) }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
        try realm.finish()
    }

    @Test func `a transaction that does not want to wait begins when the writer is free`() throws {
        let realm = try realm()
        for attempt in 1...50 {
            // The thread of the writer has just answered, or has left the queue.
            if attempt % 2 == 0 { try realm.write { _ = try Self.add($0) } }
            let begun = Awaited<Result<TransactionInfo, WriteError>>()
            realm.database.beginTransaction(owner: "me", wait: .zero) { begun.set($0) }
            let id = try begun.wait().get().id
            let refused = Awaited<Result<TransactionInfo, WriteError>>()
            realm.database.beginTransaction(owner: "me", wait: .zero) { refused.set($0) }
            #expect(throws: WriteError.self) { _ = try refused.wait().get() }
            let ended = Awaited<Result<Void, WriteError>>()
            realm.database.rollBackTransaction(id, owner: "me") { ended.set($0) }
            try ended.wait().get()
        }
        try realm.finish()
    }

    @Test func `a write that shares nothing has a version of its own`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let answers = (0..<5).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for (index, answer) in answers.enumerated() {
            var request = EngineRealm.request()
            request.isAlone = index == 2
            realm.database.write(request, Self.add) { answer.set($0) }
        }
        let before = realm.database.current.token.version
        gate.open()
        _ = try held.wait()
        let versions = try answers.map { try $0.wait().get().version.token.version - before }
        #expect(versions == [1, 1, 2, 3, 3])
        try realm.finish()
    }

    private static func outcome(_ whole: String, _ brief: String = "") -> AsyncWrites.Outcome {
        AsyncWrites.Outcome(whole: Array(whole.utf8), truncated: Array(brief.utf8))
    }

    /// What is told of a committed write; nil for any other state.
    private func told(_ id: String, _ database: Database) -> String? {
        guard case .committed(let outcome)? = database.asyncWrites.state(id, owner: nil) else { return nil }
        return String(decoding: outcome.whole, as: UTF8.self)
    }

    @Test func `long outcomes become brief, those of the owner first who has most`() throws {
        var limits = WriteLimits()
        limits.rememberedBytes = 1000
        let realm = try realm(limits)
        let write = { (owner: String, byteCount: Int) throws -> String in
            let id = realm.database.writeAsynchronously(owner: owner, EngineRealm.request(), Self.add) { _ in
                Self.outcome(String(repeating: "x", count: byteCount), "brief")
            }
            try realm.write { _ in }
            return id
        }
        let small = try write("a", 100)
        let long = try (0..<5).map { _ in try write("b", 300) }
        #expect(told(small, realm.database)?.count == 100)
        #expect(long.map { told($0, realm.database)?.count } == [5, 5, 300, 300, 300])
        let huge = try write("c", 2000)
        #expect(told(huge, realm.database) == "brief" && told(small, realm.database)?.count == 100)
        try realm.finish()
    }

    @Test func `outcomes that are too many are forgotten by the owner who has most`() throws {
        var limits = WriteLimits()
        limits.rememberedCount = 4
        let realm = try realm(limits)
        let ids = try ["a", "b", "b", "b", "b", "b", "b"].map { owner in
            let id = realm.database.writeAsynchronously(owner: owner, EngineRealm.request(), Self.add) { _ in Self.outcome("x") }
            try realm.write { _ in }
            return id
        }
        #expect(ids.map { told($0, realm.database) != nil } == [true, false, false, false, true, true, true])
        try realm.finish()
    }

    @Test func `a group takes no further write when the results of those before are long`() throws {
        var limits = WriteLimits()
        limits.groupBytes = 1 << 20
        let realm = try realm(limits)
        let (gate, held) = hold(realm)
        let answers = (0..<6).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        for answer in answers {
            realm.database.write(EngineRealm.request()) { session in
                try Self.add(session)
                session.resultBytes = 400 << 10
            } completion: {
                answer.set($0)
            }
        }
        let before = realm.database.current.token.version
        gate.open()
        _ = try held.wait()
        let versions = try answers.map { try $0.wait().get().version.token.version - before }
        #expect(versions == [1, 1, 1, 2, 2, 2])
        try realm.finish()
    }

    @Test func `asynchronous writes tell what became of them`() throws {
        let realm = try realm()
        let (gate, held) = hold(realm)
        let database = realm.database
        let finished = Awaited<Bool>()
        let first = database.writeAsynchronously(owner: "a", EngineRealm.request(), Self.add) { result in
            Self.outcome((try? result.get().version.tokenText) ?? "none")
        }
        let second = database.writeAsynchronously(owner: "a", EngineRealm.request(), Self.add) { _ in Self.outcome("") }
        let third = database.writeAsynchronously(owner: "a", EngineRealm.request()) {
            _ = try $0.delete("Counter", .text("9"))
        } completion: { result in
            defer { finished.set(true) }
            guard case .failure(let error) = result else { return Self.outcome("") }
            return Self.outcome(error.code.rawValue)
        }
        guard case .queued? = database.asyncWrites.state(first, owner: "a") else {
            Issue.record("not queued")
            return
        }
        #expect(database.asyncWrites.state(first, owner: "b") == nil)
        #expect(database.asyncWrites.cancel(second, owner: "a") == true)
        gate.open()
        _ = try held.wait()
        _ = try finished.wait()
        try realm.write { _ in }
        guard case .committed(let outcome)? = database.asyncWrites.state(first, owner: nil) else {
            Issue.record("not done")
            return
        }
        #expect(String(decoding: outcome.whole, as: UTF8.self).hasPrefix(database.epoch.text))
        guard case .cancelled? = database.asyncWrites.state(second, owner: "a") else {
            Issue.record("not cancelled")
            return
        }
        guard case .failed(let failure)? = database.asyncWrites.state(third, owner: "a") else {
            Issue.record("not failed")
            return
        }
        #expect(String(decoding: failure.whole, as: UTF8.self) == "object_not_found")
        #expect(database.asyncWrites.cancel(first, owner: "a") == false)
        #expect(database.asyncWrites.cancel("x", owner: "a") == nil)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
        try realm.finish()
    }

    @Test func `closing does what waits and takes nothing new`() throws {
        let realm = try realm()
        let (gate, _) = hold(realm)
        let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        realm.database.write(EngineRealm.request(), Self.add) { answer.set($0) }
        Threads.spawn("opener") {
            Threads.sleep(seconds: 0.05)
            gate.open()
        }
        realm.database.close()
        _ = try answer.wait().get()
        #expect(realm.failure(EngineRealm.request(), Self.add)?.code == .realmUnavailable)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
    }

    @Test func `observers are told what a commit did before it is answered`() throws {
        let realm = try realm()
        let seen = Mutex<[Commit]>([])
        let token = realm.database.commits.add { commit in seen.withLock { $0.append(commit) } }
        let receipt = try realm.write { session in
            try Self.add(session)
            _ = try session.create("Counter", ["_id": .integer(2), "n": .integer(0)])
            _ = try session.create("Counter", ["_id": .integer(3), "n": .integer(0)])
            _ = try session.delete("Counter", .text("3"))
        }
        realm.database.commits.remove(token)
        try realm.write(EngineRealm.request(), Self.add)
        let commits = seen.withLock { $0 }
        #expect(commits.count == 1 && commits.first?.version.token == receipt.version.token)
        let table = try #require(realm.database.current.snapshot.classTable(named: "Counter"))
        let changes = try #require(commits.first?.summary.tables[table.key])
        #expect(changes.inserted.count == 1 && changes.deleted.isEmpty && changes.modified.count == 1)
        #expect(changes.modified.values.first == [try #require(table.column(named: "n")).key])
        try realm.finish()
    }
}
