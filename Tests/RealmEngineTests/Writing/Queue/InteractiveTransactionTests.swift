// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct InteractiveTransactionTests {
    private func realm(_ change: (inout WriteLimits) -> Void = { _ in }) throws -> EngineRealm {
        var limits = WriteLimits()
        change(&limits)
        let realm = try EngineRealm(TestSchema.counters, limits: limits)
        try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
        return realm
    }

    /// Makes a realm whose transactions do not end by themselves.
    private func patientRealm(_ change: (inout WriteLimits) -> Void) throws -> EngineRealm {
        try realm {
            $0.idleTime = .seconds(120)
            $0.usualIdleTime = .seconds(120)
            $0.lifetime = .seconds(120)
            $0.usualLifetime = .seconds(120)
            change(&$0)
        }
    }

    private func begin(
        _ realm: EngineRealm, wait: Double = 5, owner: String = "me", client: String? = nil
    ) throws -> TransactionInfo {
        let answer = Awaited<Result<TransactionInfo, WriteError>>()
        realm.database.beginTransaction(owner: owner, client: client, wait: .seconds(wait)) { answer.set($0) }
        return try answer.wait().get()
    }

    @Sendable private static func add(_ session: WriteSession) throws -> Int64 {
        let value = try session.increment("Counter", .text("1"), PropertyAddress("n"), by: .integer(1))
        guard case .int(let number) = value else { return -1 }
        return number
    }

    @discardableResult
    private func perform(
        _ realm: EngineRealm, _ info: TransactionInfo, _ use: Database.TransactionUse = .write,
        _ body: @escaping @Sendable (WriteSession) throws -> Int64 = InteractiveTransactionTests.add
    ) throws -> Int64 {
        let answer = Awaited<Result<Int64, WriteError>>()
        realm.database.perform(in: info.id, owner: info.owner, use, deadline: .now().adding(seconds: 10), body) { answer.set($0) }
        return try answer.wait().get()
    }

    private func commit(_ realm: EngineRealm, _ info: TransactionInfo) throws -> Version {
        let answer = Awaited<Result<Version, WriteError>>()
        realm.database.commitTransaction(info.id, owner: info.owner) { answer.set($0) }
        return try answer.wait().get()
    }

    private func rollBack(_ realm: EngineRealm, _ info: TransactionInfo) throws {
        let answer = Awaited<Result<Void, WriteError>>()
        realm.database.rollBackTransaction(info.id, owner: info.owner) { answer.set($0) }
        try answer.wait().get()
    }

    private func code(_ body: () throws -> Void) -> WriteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? WriteError)?.code
        }
    }

    @Test func `the memory of a transaction is bounded over all of its requests`() throws {
        let realm = try realm { $0.writeBytes = 2 << 20 }
        let info = try begin(realm)
        var requests = 0
        let code = code {
            while requests < 1000 {
                let first = Int64(1000 + requests * 500)
                try perform(realm, info) { session in
                    for key in first..<first + 500 {
                        _ = try session.create("Counter", ["_id": .integer(key), "n": .integer(0)])
                    }
                    return 0
                }
                requests += 1
            }
        }
        #expect(code == .tooManyAffected && requests > 1, "\(requests)")
        try realm.write { session in
            for key in Int64(1000)..<1500 { _ = try session.create("Counter", ["_id": .integer(key), "n": .integer(0)]) }
        }
        try realm.finish()
    }

    /// Writes until the transaction takes 2 MiB.
    @Sendable private static func fill(_ session: WriteSession) throws -> Int64 { try grow(session, to: 2 << 20) }

    /// Writes until the transaction takes so many bytes.
    private static func grow(_ session: WriteSession, to byteCount: Int, from first: Int64 = 1000) throws -> Int64 {
        var key = first
        while session.usedBytes < byteCount {
            _ = try session.create("Counter", ["_id": .integer(key), "n": .integer(0)])
            try session.checkDeadline()
            key += 1
        }
        return key
    }

    @Test func `a commit that is refused when its turn comes leaves the transaction open`() throws {
        struct Ended: Error {}
        let realm = try realm()
        let info = try begin(realm)
        try perform(realm, info)
        let answer = Awaited<Result<Version, WriteError>>()
        realm.database.commitTransaction(info.id, owner: info.owner, TransactionCommit(refusal: { Ended() })) { answer.set($0) }
        let result = try answer.wait()
        #expect(throws: WriteError.self) { try result.get() }
        #expect(realm.database.transaction(info.id, owner: info.owner)?.state == .open)
        #expect(try perform(realm, info) == 2)
        #expect(try commit(realm, info).token.version > info.version.version)
        try realm.finish()
    }

    /// Returns why a request of a transaction was refused; nil for one that was not.
    private func refusal(
        _ realm: EngineRealm, _ info: TransactionInfo,
        _ body: @escaping @Sendable (WriteSession) throws -> Int64 = InteractiveTransactionTests.fill
    ) -> WriteError? {
        do {
            try perform(realm, info, .write, body)
            return nil
        } catch {
            return error as? WriteError
        }
    }

    /// Twelve transactions in as many realms took twelve times the limit of one.
    @Test func `uncommitted writes of all realms share one memory, of which each client has a part`() throws {
        let memory = WriteMemory()
        func make() throws -> EngineRealm {
            try patientRealm {
                $0.memory = memory
                $0.uncommittedBytes = 5 << 20
                $0.uncommittedBytesPerClient = 3 << 20
            }
        }
        let realms = [try make(), try make(), try make()]
        let first = try begin(realms[0], client: "a")
        #expect(refusal(realms[0], first) == nil)
        #expect(memory.byteCount > 1 << 20)
        let ofClient = refusal(realms[1], try begin(realms[1], client: "a"))
        #expect(ofClient?.code == .overloaded && ofClient?.exceeded == .uncommittedBytesPerClient && ofClient?.limit == 3 << 20)
        // The transaction has ended, so another client gets the writer.
        let second = try begin(realms[1], client: "b")
        #expect(refusal(realms[1], second) == nil)
        let ofAll = refusal(realms[2], try begin(realms[2], client: "c"))
        #expect(ofAll?.code == .overloaded && ofAll?.exceeded == .uncommittedBytes && ofAll?.limit == 5 << 20)
        #expect(ofAll?.retryAfter != nil)
        var request = EngineRealm.request()
        request.client = "c"
        #expect(realms[2].failure(request, InteractiveTransactionTests.fill)?.exceeded == .uncommittedBytes)
        #expect(memory.refusalCount == 3)
        // A small write has room always.
        try realms[2].write(request) { _ = try $0.create("Counter", ["_id": .integer(2), "n": .integer(0)]) }
        _ = try commit(realms[0], first)
        try rollBack(realms[1], second)
        #expect(memory.byteCount == 0)
        try realms[2].write(request, InteractiveTransactionTests.fill)
        for realm in realms { try realm.finish() }
    }

    /// A small transaction in another realm ended a large import.
    @Test(arguments: [("b", WriteError.Setting.uncommittedBytes), ("a", .uncommittedBytesPerClient)])
    func `the transaction that takes the most goes on when small ones use the memory up`(
        _ client: String, _ setting: WriteError.Setting
    ) throws {
        let memory = WriteMemory()
        func make() throws -> EngineRealm {
            try patientRealm {
                $0.memory = memory
                $0.uncommittedBytes = setting == .uncommittedBytes ? 5 << 20 : 64 << 20
                $0.uncommittedBytesPerClient = setting == .uncommittedBytes ? 64 << 20 : 5 << 20
            }
        }
        let realms = [try make(), try make()]
        let large = try begin(realms[0], client: "a")
        let next = try perform(realms[0], large, .write) { try Self.grow($0, to: 5 << 19) }
        let small = try begin(realms[1], client: client)
        #expect(refusal(realms[1], small) { try Self.grow($0, to: 1 << 19) } == nil)
        #expect(refusal(realms[0], large) { try Self.grow($0, to: 4 << 20, from: next) } == nil)
        #expect(memory.byteCount > 5 << 20)
        let ofSmall = refusal(realms[1], small) { try Self.grow($0, to: 2 << 20, from: 100_000) }
        #expect(ofSmall?.code == .overloaded && ofSmall?.exceeded == setting && memory.refusalCount == 1)
        _ = try commit(realms[0], large)
        #expect(memory.byteCount == 0)
        for realm in realms { try realm.finish() }
    }

    @Test func `requests see what those before them wrote, others see it after the commit`() throws {
        let realm = try realm()
        let info = try begin(realm)
        let before = realm.database.current.token
        #expect(info.version == before && info.state == .open)
        #expect(try perform(realm, info) == 1 && perform(realm, info) == 2)
        let seen = try perform(realm, info, .read) { session in
            let view = try session.view()
            guard let table = view.classTable(named: "Counter"), let row = try table.findByPrimaryKey(.int(1)),
                let column = table.column(named: "n"), case .int(let number) = try row.value(column)
            else { return -1 }
            return number
        }
        #expect(seen == 2)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        let version = try commit(realm, info)
        #expect(version.token.version == before.version + 1)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:2}")
        #expect(realm.database.transaction(info.id, owner: "me")?.state == .committed)
        #expect(code { try perform(realm, info) } == .alreadyCommitted)
        #expect(code { try rollBack(realm, info) } == .alreadyCommitted)
        try realm.finish()
    }

    @Test func `a rolled back transaction leaves nothing`() throws {
        let realm = try realm()
        let info = try begin(realm)
        try perform(realm, info)
        try rollBack(realm, info)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        #expect(code { try perform(realm, info) } == .transactionExpired)
        #expect(realm.database.transaction("never", owner: "me") == nil)
        #expect(realm.database.transaction(info.id, owner: "you") == nil)
        #expect(realm.database.transaction(info.id, owner: nil)?.state == .rolledBack)
        try realm.finish()
    }

    @Test func `a failed write aborts, a failed read and a failed dry run do not`() throws {
        let realm = try realm()
        struct InputError: Error {}
        let info = try begin(realm)
        try perform(realm, info)
        #expect(code { try perform(realm, info, .read) { _ in throw InputError() } } == .caller)
        #expect(
            code {
                try perform(realm, info, .dryRun) { session in
                    _ = try Self.add(session)
                    throw InputError()
                }
            } == .caller)
        #expect(try perform(realm, info, .dryRun) == 2)
        #expect(try perform(realm, info) == 2)
        #expect(
            code {
                try perform(realm, info) { session in
                    _ = try session.delete("Counter", .text("9"))
                    return 0
                }
            } == .objectNotFound)
        #expect(code { try perform(realm, info) } == .transactionAborted)
        #expect(code { _ = try commit(realm, info) } == .transactionAborted)
        try rollBack(realm, info)
        #expect(code { try perform(realm, info) } == .transactionExpired)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        try realm.finish()
    }

    @Test func `other writes wait, and give up`() throws {
        let realm = try realm { $0.lockWait = .seconds(1) }
        let info = try begin(realm)
        #expect(code { _ = try begin(realm, wait: 0) } == .writeLockBusy)
        let error = realm.failure { try Self.add($0) }
        #expect(error?.code == .writeLockBusy && (error?.retryAfter?.inSeconds ?? 0) > 1)
        #expect(code { _ = try begin(realm, wait: 0.05) } == .writeLockBusy)
        let patient = Awaited<Result<WriteReceipt<Int64>, WriteError>>()
        realm.database.write(EngineRealm.request(), Self.add) { patient.set($0) }
        try rollBack(realm, info)
        #expect(try patient.wait().get().value == 1)
        try realm.finish()
    }

    @Test func `a lease ends by itself`() throws {
        let realm = try realm { $0.idleTime = .seconds(0.05) }
        let info = try begin(realm)
        // On a busy machine the lease may be over before anything was done in it.
        let failure = code { try perform(realm, info) }
        #expect(failure == nil || failure == .transactionExpired)
        try realm.write { _ = try Self.add($0) }
        #expect(code { try perform(realm, info) } == .transactionExpired)
        #expect(realm.database.transaction(info.id, owner: "me")?.state == .expired)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:1}")
        try realm.finish()
    }

    @Test func `the whole lease ends even if it is used`() throws {
        let realm = try realm { $0.lifetime = .seconds(0.1) }
        let info = try begin(realm)
        var failure: WriteError.Code?
        for _ in 0..<100 where failure == nil {
            failure = code { try perform(realm, info) }
            Threads.sleep(seconds: 0.01)
        }
        #expect(failure == .transactionExpired)
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        try realm.finish()
    }

    @Test(arguments: [Database.TransactionUse.read, .write, .dryRun])
    func `a request that is still running when the lease ends is told so`(_ use: Database.TransactionUse) throws {
        let realm = try realm { $0.lifetime = .seconds(0.05) }
        let info = try begin(realm)
        let failure = code {
            try perform(realm, info, use) { session in
                while true {
                    try session.checkDeadline()
                    Threads.sleep(seconds: 0.005)
                }
            }
        }
        #expect(failure == .transactionExpired)
        #expect(realm.database.transaction(info.id, owner: "me")?.state == .expired)
        try realm.finish()
    }

    @Test func `requests of one transaction do not overlap`() throws {
        let realm = try realm()
        let info = try begin(realm)
        let gate = Monitor(false)
        let first = Awaited<Result<Int64, WriteError>>()
        realm.database.perform(in: info.id, owner: "me", .write, deadline: .now().adding(seconds: 10)) { session -> Int64 in
            _ = gate.wait { $0 ? true : nil }
            return try Self.add(session)
        } completion: {
            first.set($0)
        }
        #expect(code { try perform(realm, info) } == .transactionBusy)
        gate.broadcast { $0 = true }
        #expect(try first.wait().get() == 1)
        #expect(try perform(realm, info) == 2)
        #expect(code { try perform(realm, try #require(realm.database.openTransaction), .write) { _ in 0 } } == nil)
        _ = try commit(realm, info)
        try realm.finish()
    }

    @Test func `closing rolls back`() throws {
        let realm = try realm()
        let info = try begin(realm)
        try perform(realm, info)
        realm.database.close()
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
    }

    @Test func `every request of a lease that ends is answered`() throws {
        let realm = try realm { $0.idleTime = .seconds(0.002) }
        for round in 0..<60 {
            let info = try begin(realm)
            Threads.sleep(seconds: 0.0015 + Double(round % 10) * 0.0001)
            let failure = code { try perform(realm, info) }
            #expect(failure == nil || failure == .transactionExpired, "round \(round): \(String(describing: failure))")
            if failure == nil { _ = code { try rollBack(realm, info) } }
        }
        #expect(try realm.show("Counter", 1) == "{_id:1 n:0}")
        try realm.finish()
    }
}
