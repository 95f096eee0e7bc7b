// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What a full or a broken disk means for those who write.
@Suite struct FailingDiskTests {
    private static let full: Int32 = 28
    private static let broken: Int32 = 5

    private func realm() throws -> (EngineRealm, FaultBackend) {
        let backend = try FaultBackend()
        let realm = try EngineRealm(
            try FileStore(backend),
            [ClassInput("Blob", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("bytes", "data")])])
        return (realm, backend)
    }

    @Sendable private static func create(_ id: Int64, byteCount: Int, _ session: WriteSession) throws {
        _ = try session.create("Blob", ["_id": .integer(id), "bytes": .typed(.binary([UInt8](repeating: 7, count: byteCount)))])
    }

    @Test func `a full disk refuses a write, and the next one goes on`() throws {
        let (realm, backend) = try realm()
        backend.resetCounts()
        backend.failing = (.extend, 0, Self.full)
        let before = realm.database.current.token
        #expect(realm.failure { try Self.create(1, byteCount: 8 << 20, $0) }?.code == .insufficientStorage)
        #expect(backend.failureCount == 1 && realm.database.current.token == before && realm.count("Blob") == 0)
        try realm.write { try Self.create(1, byteCount: 8 << 20, $0) }
        #expect(realm.count("Blob") == 1)
        try realm.finish()
    }

    @Test(arguments: 0..<4) func `a failed write of bytes leaves the version that was`(_ call: Int) throws {
        let (realm, backend) = try realm()
        backend.resetCounts()
        backend.failing = (.write, call, Self.broken)
        #expect(realm.failure { try Self.create(1, byteCount: 10, $0) }?.code == .storage)
        try realm.write { try Self.create(2, byteCount: 10, $0) }
        #expect(realm.count("Blob") == 1)
        try realm.finish()
    }

    @Test(arguments: [0, 1])
    func `after a failed sync nothing is written any more, and reading goes on`(_ after: Int) throws {
        let (realm, backend) = try realm()
        try realm.write { try Self.create(1, byteCount: 10, $0) }
        backend.resetCounts()
        backend.failing = (.sync, after, Self.broken)
        #expect(realm.failure { try Self.create(2, byteCount: 10, $0) }?.code == .realmUnavailable)
        #expect(realm.failure { try Self.create(3, byteCount: 10, $0) }?.code == .realmUnavailable)
        #expect(realm.count("Blob") == 1)
        let answer = Awaited<Result<TransactionInfo, WriteError>>()
        realm.database.beginTransaction(owner: "", wait: .seconds(1)) { answer.set($0) }
        guard case .failure(let error) = try answer.wait() else {
            Issue.record("begun")
            return
        }
        #expect(error.code == .realmUnavailable)
        realm.database.close()
    }

    /// Writes that fail, and dry runs, may have seen what writes before them in the same group have changed. When that is not
    /// committed, nobody must be told of it.
    @Test func `what is not committed is not told`() throws {
        let (realm, backend) = try realm()
        let gate = Monitor((isEntered: false, isOpen: false))
        let first = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        realm.database.write(EngineRealm.request()) { _ in
            gate.broadcast { $0.isEntered = true }
            _ = gate.wait { $0.isOpen ? true : nil }
        } completion: {
            first.set($0)
        }
        _ = gate.wait { $0.isEntered ? true : nil }
        func write(
            isDryRun: Bool = false, _ body: @escaping @Sendable (WriteSession) throws -> Void
        ) -> Awaited<Result<WriteReceipt<Void>, WriteError>> {
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            var request = EngineRealm.request()
            request.isDryRun = isDryRun
            realm.database.write(request, body) { answer.set($0) }
            return answer
        }
        let remove: @Sendable (WriteSession) throws -> Void = { _ = try $0.delete("Blob", .primaryKey(.integer(1))) }
        let before = write(remove)
        let large = write { try Self.create(1, byteCount: 2 << 20, $0) }
        let twice = write { try Self.create(1, byteCount: 10, $0) }
        let tried = write(isDryRun: true, remove)
        backend.resetCounts()
        backend.failing = (.extend, 0, Self.full)
        gate.broadcast { $0.isOpen = true }
        func code(_ answer: Awaited<Result<WriteReceipt<Void>, WriteError>>) throws -> WriteError.Code? {
            if case .failure(let error) = try answer.wait() { return error.code }
            return nil
        }
        _ = try first.wait()
        #expect(try code(before) == .objectNotFound)
        #expect(try code(large) == .insufficientStorage)
        #expect(try code(twice) == .insufficientStorage && code(tried) == .insufficientStorage)
        #expect(backend.failureCount == 1 && realm.count("Blob") == 0)
        try realm.write { try Self.create(1, byteCount: 10, $0) }
        #expect(realm.count("Blob") == 1)
        try realm.finish()
    }

    @Test func `a group takes no more than there is memory for`() throws {
        var limits = WriteLimits()
        limits.groupBytes = 1 << 20
        let realm = try EngineRealm(
            [ClassInput("Blob", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("bytes", "data")])], limits: limits
        )
        let before = realm.database.current.token.version
        let gate = Monitor(false)
        let answers = (0..<6).map { _ in Awaited<Result<WriteReceipt<Void>, WriteError>>() }
        realm.database.write(EngineRealm.request()) { _ in
            _ = gate.wait { $0 ? true : nil }
        } completion: { _ in
        }
        for (index, answer) in answers.enumerated() {
            realm.database.write(EngineRealm.request()) {
                try Self.create(Int64(index), byteCount: 900_000, $0)
            } completion: {
                answer.set($0)
            }
        }
        gate.broadcast { $0 = true }
        let versions = try answers.map { try $0.wait().get().version.token.version - before }
        #expect(versions == versions.sorted() && (2...6).contains(versions.last ?? 0), "\(versions)")
        #expect(realm.database.pendingWrites == 0 && realm.count("Blob") == 6)
        try realm.finish()
    }
}
