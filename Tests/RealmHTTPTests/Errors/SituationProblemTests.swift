// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Problems that come from the situation a write meets: a limit, a transaction, a clock, a disk, a file that is not what it should be.
@Suite struct SituationProblemTests {
    /// Codes that are raised here, beside those of `WriteProblemTests`.
    static let codes: Set<ProblemCode> = Set(situations.map(\.code)).union(files.map(\.code))
        .union([.insufficientStorage, .internalError, .realmUnavailable, .fileCorrupt, .overloaded])

    /// A way to get refused. What it leaves to be done comes after the bytes were compared.
    struct Situation: Sendable, CustomTestStringConvertible {
        let code: ProblemCode
        var change: @Sendable (inout ServerOptions) -> Void = { _ in }
        /// False where the server takes no writes at all.
        var continues = true
        let raise: @Sendable (WriteServer, Stage) throws -> HTTPClient.Answer
        var testDescription: String { code.rawValue }
    }

    /// Keeps what the file was before the request that is refused.
    final class Stage {
        private(set) var bytes: Data?
        private(set) var afterwards: [() throws -> Void] = []

        func mark(_ server: WriteServer) throws { bytes = try server.bytes() }
        func after(_ work: @escaping () throws -> Void) { afterwards.append(work) }
    }

    private static let age = #"{"age":9}"#

    /// The header of a new transaction.
    private static func begin(_ server: WriteServer, _ body: String = "{}") throws -> (id: String, header: [(String, String)]) {
        let id = try server.done("POST", "app/transactions", body).json["id"]?.text ?? ""
        return (id, [("Realm-Transaction", id)])
    }

    static let situations: [Situation] = leases + repetitions + limits

    private static let leases: [Situation] = [
        Situation(code: .transactionsDisabled, change: { $0.allowsTransactions = false }) { server, _ in
            try server.send("POST", "app/transactions", "{}")
        },
        Situation(code: .transactionAborted) { server, _ in
            let (id, header) = try begin(server)
            try server.done("PATCH", "app/objects/Dog/1", age, header)
            _ = try server.send("PATCH", "app/objects/Dog/77", age, header)
            return try server.send("POST", "app/transactions/\(id)/commit")
        },
        Situation(code: .alreadyCommitted) { server, stage in
            let (id, header) = try begin(server)
            try server.done("PATCH", "app/objects/Dog/1", age, header)
            try server.done("POST", "app/transactions/\(id)/commit")
            try stage.mark(server)
            return try server.send("PATCH", "app/objects/Dog/1", #"{"age":10}"#, header)
        },
        Situation(code: .transactionExpired) { server, _ in
            let (id, header) = try begin(server, #"{"lifetime":"1s"}"#)
            _ = try server.send("PATCH", "app/objects/Dog/1", age, header)
            _ = try eventually { try server.state("app/transactions/\(id)") == "expired" }
            return try server.send("PATCH", "app/objects/Dog/1", age, header)
        },
        Situation(code: .writeLockBusy, change: { $0.limits.writeSeconds = 1 }) { server, stage in
            let (id, _) = try begin(server)
            stage.after { () throws in try server.done("DELETE", "app/transactions/\(id)") }
            return try server.send("PATCH", "app/objects/Dog/1", age)
        },
        Situation(code: .transactionBusy) { server, stage in
            let (transaction, header) = try begin(server)
            // One request of the transaction takes its time, and a second one overlaps it.
            let held = WriterStep(try server.database(), transaction)
            try held.waitUntilHeld()
            stage.after { () throws in
                held.open()
                #expect(try eventually { try server.send("DELETE", "app/transactions/\(transaction)").status == 204 })
            }
            return try server.send("PATCH", "app/objects/Dog/1", age, header)
        },
    ]

    private static let repetitions: [Situation] = [
        Situation(code: .idempotencyKeyReused) { server, stage in
            let key = [("Idempotency-Key", "k")]
            try server.done("PATCH", "app/objects/Dog/1", age, key)
            try stage.mark(server)
            return try server.send("PATCH", "app/objects/Dog/1", #"{"age":10}"#, key)
        },
        Situation(code: .idempotencyInProgress) { server, stage in
            let key = [("Idempotency-Key", "k")]
            let gate = WriterGate(try server.database())
            let first = Awaited<Int?>()
            Threads.spawn("first") { first.set(try? server.send("PATCH", "app/objects/Dog/1", age, key).status) }
            _ = try eventually { try server.database().pendingWrites >= 2 }
            stage.after { () throws in
                gate.open()
                let status = try first.wait()
                #expect(status == 200)
            }
            return try server.send("PATCH", "app/objects/Dog/1", age, key)
        },
        Situation(code: .readOnly, change: { $0.isReadOnly = true }, continues: false) { server, _ in
            try server.send("PATCH", "app/objects/Dog/1", age)
        },
    ]

    private static let limits: [Situation] = [
        Situation(code: .requestTimeout, change: { $0.limits.http.requestSeconds = 1 }) { server, _ in
            let client = try HTTPClient(port: server.port)
            try client.send(
                "PATCH /v1/realms/app/objects/Dog/1 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"age\""
            )
            return try client.readAnswer()
        },
        Situation(code: .rateLimited, change: { $0.limits.rate = 20 }) { server, stage in
            var answer = try server.send("DELETE", "app/objects/Dog/77")
            for _ in 0..<2000 where answer.status != 429 { answer = try server.send("DELETE", "app/objects/Dog/77") }
            stage.after { Threads.sleep(seconds: 1.1) }
            return answer
        },
        Situation(code: .tooManyActiveVersions) { server, stage in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            #expect(try server.attach(#"{"path":"\#(path)","maxActiveVersions":2}"#).status == 201)
            // Two versions are read while a third one is the newest.
            var held: [Version] = []
            for age in 0..<2 {
                held.append(try server.database().current)
                try server.done("PATCH", "app/objects/Dog/1", #"{"age":\#(age)}"#)
            }
            try stage.mark(server)
            let answer = try server.send("PATCH", "app/objects/Dog/1", age)
            #expect(answer.json["counts"]?["liveVersions"] != nil)
            withExtendedLifetime(held) {}
            return answer
        },
        Situation(code: .deadlineExceeded, change: { $0.limits.writeSeconds = 1 }) { server, stage in
            // It waits behind a write that takes longer than its patience.
            let gate = WriterGate(try server.database())
            let answer = Awaited<HTTPClient.Answer?>()
            Threads.spawn("late") { answer.set(try? server.send("PATCH", "app/objects/Dog/1", age)) }
            _ = try eventually { try server.database().pendingWrites >= 2 }
            Threads.sleep(seconds: 1.1)
            gate.open()
            guard let answer = try answer.wait() else { throw TookTooLong() }
            return answer
        },
        Situation(code: .deadlineExceeded, change: { $0.limits.writeSeconds = 2 }) { server, stage in
            // It takes too long itself: every step of this path leads to a hundred objects.
            let dogs = (100..<200).map { #"{"_id":\#($0),"age":1,"owner":"ann"}"# }.joined(separator: ",")
            try server.done("POST", "app/objects/Dog", "[\(dogs)]")
            try server.done(
                "PATCH", "app/objects/Person/ann", #"{"dogs":[\#((100..<200).map(String.init).joined(separator: ","))]}"#)
            try stage.mark(server)
            let path = Array(repeating: "owner.dogs", count: 5).joined(separator: ".")
            return try server.batch(
                #"{"delete":{"class":"Dog","key":"2"}}"#,
                #"{"deleteWhere":{"class":"Dog","where":"ANY \#(path).age == _id - 1000"}}"#)
        },
        Situation(code: .shuttingDown, change: { $0.graceSeconds = 30 }, continues: false) { server, stage in
            let gate = WriterGate(try server.database())
            let stuck = try HTTPClient(port: server.port)
            let other = try HTTPClient(port: server.port)
            _ = try other.request("GET", "/v1/realms/app")
            let body = #"{"tags":[]}"#
            try stuck.send(
                "PATCH /v1/realms/app/objects/Dog/1 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            _ = try eventually { try server.database().pendingWrites >= 2 }
            let ended = Awaited<Void>()
            Threads.spawn("stop") {
                server.server.stop()
                ended.set(())
            }
            _ = eventually { server.server.daemon.isDraining }
            stage.after { () throws in
                // What was taken before is done.
                gate.open()
                let answer = try stuck.readAnswer()
                #expect(answer.status == 200)
                try ended.wait()
            }
            return try other.request("PATCH", "/v1/realms/app/objects/Dog/1", headers: [WriteServer.json], body: Array(age.utf8))
        },
    ]

    @Test(arguments: situations)
    func `a situation that is in the way of a write has its own code, and nothing is written`(_ situation: Situation) throws {
        let server = try WriteServer(change: situation.change)
        if situation.code != .readOnly { try server.fill() }
        let stage = Stage()
        try stage.mark(server)
        let answer = try situation.raise(server, stage)
        WriteProblemTests.check(answer, situation.code)
        #expect(try server.bytes() == stage.bytes)
        for work in stage.afterwards { try work() }
        if situation.continues { try server.done("PATCH", "app/objects/Dog/2", #"{"age":55}"#) }
        try server.finish()
    }

    // MARK: - Files that cannot be attached

    struct BadFile: Sendable, CustomTestStringConvertible {
        let code: ProblemCode
        var status: Int?
        var options = ""
        /// Makes the file from a good one, or does something else with its path.
        let make: @Sendable (_ path: String, _ good: Data) throws -> Void
        var testDescription: String { code.rawValue }
    }

    private static func write(_ bytes: Data, _ path: String) throws { try bytes.write(to: URL(fileURLWithPath: path)) }

    static let files: [BadFile] = [
        BadFile(code: .fileNotFound) { _, _ in },
        BadFile(code: .notARealm) { path, _ in try write(Data("this is no realm, but long enough to look at".utf8), path) },
        BadFile(code: .encryptionKeyRequired) { path, _ in
            try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: path)
        },
        BadFile(code: .encryptionKeyWrong, options: #","encryptionKey":"\#(String(repeating: "ab", count: 64))""#) { path, _ in
            try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: path)
        },
        BadFile(code: .fileFormatUnsupported) { path, good in
            var bytes = good
            bytes[20] = 12
            bytes[21] = 12
            try write(bytes, path)
        },
        BadFile(code: .fileFormatUnsupported) { path, good in
            var bytes = good
            bytes[20] = 25
            bytes[21] = 25
            try write(bytes, path)
        },
        BadFile(code: .schemaVersionConflict, options: #","schemaVersion":5"#) { path, good in try write(good, path) },
        BadFile(
            code: .schemaVersionConflict,
            options: #","schema":{"classes":[{"name":"Note","properties":[{"name":"text","type":"int"}]}]}"#
        ) { path, good in try write(good, path) },
        BadFile(code: .notARealm) { path, _ in try write(Data(), path) },
        BadFile(code: .fileCorrupt, status: 422) { path, good in try write(good.prefix(good.count / 2), path) },
        BadFile(code: .fileCorrupt, status: 422) { path, good in
            var bytes = good
            // Both top references lead beyond the file.
            for offset in [0, 8] { bytes.replaceSubrange(offset..<offset + 8, with: [0, 0, 0, 0, 0, 1, 0, 0]) }
            try write(bytes, path)
        },
        BadFile(code: .filesystemUnsuitable) { path, _ in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        },
        BadFile(code: .fileExists) { path, good in try write(good, path) },
        BadFile(code: .fileInUse) { path, good in try write(good, path) },
        BadFile(code: .alreadyAttached) { path, good in try write(good, path) },
    ]

    @Test(arguments: files)
    func `A7, E29, E30: a file that cannot be attached has its own code, and file and list are as they were`(_ file: BadFile)
        throws
    {
        let folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try WriteServer()
        let path = (file.code == .fileExists ? server.folder : folder) + "/bad.realm"
        try file.make(path, try server.bytes())
        let before = try? Data(contentsOf: URL(fileURLWithPath: path))
        var body = #"{"name":"bad","path":"\#(path)"\#(file.options)}"#
        var owner: OwnershipLock?
        if file.code == .fileInUse { owner = try OwnershipLock(ofFile: path) }
        if file.code == .fileExists { body = #"{"name":"bad"}"# }
        if file.code == .alreadyAttached { body = #"{"name":"app","path":"\#(path)"}"# }
        func names() throws -> [String?]? {
            let list = try HTTPClient.request(port: server.port, "GET", "/v1/realms").json["items"]?.elements
            return list?.map { $0["name"]?.text }
        }
        let listed = try names()
        WriteProblemTests.check(try server.attach(body), file.code, status: file.status)
        #expect(try names() == listed && listed?.contains("app") == true)
        #expect((try? Data(contentsOf: URL(fileURLWithPath: path))) == before)
        #expect(try server.get("bad").code == "realm_not_found")
        owner?.release()
        try server.done("POST", "app/objects/Note", #"{"text":"on"}"#)
        try server.finish()
    }

    // MARK: - Disks

    @Test(
        arguments: [FaultBackend.Kind.extend, .write],
        [28, 122, 27] as [Int32])
    func `a full disk is 507 at whatever call it is met, and the realm goes on`(_ kind: FaultBackend.Kind, _ errno: Int32) throws
    {
        try withFaultyRealm { server, backend, database in
            var refused = 0
            for call in 0..<8 {
                let before = (database.current.tokenText, try server.get("faulty/objects/Note").text)
                backend.resetCounts()
                backend.failing = (kind, call, errno)
                let body = #"{"text":""# + String(repeating: "x", count: 1 << 20) + #""}"#
                let answer = try server.send("POST", "faulty/objects/Note", body, [("Prefer", "return=minimal")])
                guard answer.status != 201 else { break }
                refused += 1
                WriteProblemTests.check(answer, .insufficientStorage)
                #expect((database.current.tokenText, try server.get("faulty/objects/Note").text) == before)
            }
            backend.failing = nil
            // Nodes, two parts of a slot, and the byte that selects it.
            #expect(refused >= (kind == .write ? 4 : 1))
            try server.done("POST", "faulty/objects/Note", #"{"text":"on"}"#)
        }
    }

    @Test func `a broken disk is 500 without details, and the realm goes on`() throws {
        try withFaultyRealm { server, backend, database in
            let before = database.current.tokenText
            backend.resetCounts()
            backend.failing = (.write, 0, 5)
            let answer = try server.send("POST", "faulty/objects/Note", #"{"text":"t"}"#)
            WriteProblemTests.check(answer, .internalError)
            #expect(answer.json["pointer"] == nil && database.current.tokenText == before)
            try server.done("POST", "faulty/objects/Note", #"{"text":"on"}"#)
        }
    }

    @Test(arguments: [0, 1]) func `after a failed sync the realm takes no more writes and is read on`(_ call: Int)
        throws
    {
        try withFaultyRealm { server, backend, database in
            try server.done("POST", "faulty/objects/Note", #"{"text":"first"}"#)
            let before = database.current.tokenText
            backend.resetCounts()
            backend.failing = (.sync, call, 5)
            WriteProblemTests.check(try server.send("POST", "faulty/objects/Note", #"{"text":"t"}"#), .realmUnavailable)
            WriteProblemTests.check(try server.send("POST", "faulty/objects/Note", #"{"text":"t"}"#), .realmUnavailable)
            WriteProblemTests.check(try server.send("POST", "faulty/transactions", "{}"), .realmUnavailable)
            #expect(database.current.tokenText == before)
            #expect(try server.get("faulty/objects/Note?count=exact").json["count"]?.int == 1)
            try server.done("POST", "app/objects/Note", #"{"text":"on"}"#)
        }
    }

    @Test func `damage that a write meets is 500, and the file is left as it is`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // With the look before the first write most of these would be served for reading only.
        try withWriteServer(change: { $0.verification = .off }) { (server: WriteServer) throws in
            let whole = try server.bytes()
            // Every node begins with the same four bytes; one node in each copy loses its size.
            let nodes = stride(from: 24, to: whole.count - 8, by: 8).filter {
                whole[$0..<$0 + 4].elementsEqual([0x41, 0x41, 0x41, 0x41])
            }
            var met = 0
            for (number, offset) in nodes.enumerated() where met < 3 {
                var copy = whole
                copy.replaceSubrange(offset + 4..<offset + 8, with: [0xff, 0xff, 0xff, 0xff])
                let path = folder + "/v\(number).realm"
                try copy.write(to: URL(fileURLWithPath: path))
                guard try server.attach(#"{"path":"\#(path)"}"#).status == 201 else { continue }
                let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                let answer = try server.send(
                    "PATCH", "v\(number)/objects/Dog/1", #"{"name":"new","tags":["q"],"owner":null,"chip":null}"#)
                if answer.status == 500 {
                    met += 1
                    WriteProblemTests.check(answer, .fileCorrupt, status: 500)
                    #expect(answer.json["detail"]?.text == "the file of this realm is damaged")
                    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
                } else {
                    #expect([200, 404, 422].contains(answer.status), "\(answer.text)")
                }
                #expect(try server.send("DELETE", "v\(number)").status == 204)
            }
            #expect(met > 0, "none of \(nodes.count) damaged nodes was met")
        }
    }

    @Test func `more writes than may wait are 503`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let name = try #require(RealmName("narrow"))
            var options = Database.OpenOptions()
            options.limits.queuedJobs = 1
            let database = try Database.openInMemory(name: name, identifier: "narrow", options)
            try server.server.state.catalog.reserve(name)
            try server.server.state.catalog.settle(name, .ready(database))
            let gate = WriterGate(database)
            try gate.waitUntilHeld()
            let first = try server.send("POST", "narrow/batch", #"{"ops":[]}"#, WriteServer.later)
            #expect(first.status == 202)
            let second = try server.send("POST", "narrow/batch", #"{"ops":[]}"#)
            WriteProblemTests.check(second, .overloaded)
            #expect(second.json["limit"]?.int == 1)
            gate.open()
            #expect(
                try server.fate(String((first["Location"] ?? "").dropFirst("/v1/realms/".count)))["state"]?.text
                    == "committed")
            try server.done("POST", "narrow/batch", #"{"ops":[]}"#)
        }
    }
}

/// A request of an interactive transaction that goes on for as long as a test wants.
private final class WriterStep: Sendable {
    private let monitor = Monitor((isHeld: false, isOpen: false))

    init(_ database: Database, _ transaction: String) {
        database.perform(
            in: transaction, owner: nil, .read, deadline: .now().adding(seconds: 60),
            { [monitor] _ in
                monitor.broadcast { $0.isHeld = true }
                _ = monitor.wait(until: .now().adding(seconds: 60)) { $0.isOpen ? true : nil }
            }, completion: { (_: Result<Void, WriteError>) in })
    }

    func waitUntilHeld() throws {
        guard monitor.wait(until: .now().adding(seconds: 60), { $0.isHeld ? true : nil }) == true else { throw TookTooLong() }
    }

    func open() { monitor.broadcast { $0.isOpen = true } }
}
