// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// A loaded server that is killed: what it has answered is there, all of it, and nothing is there by halves. Features A24, A25, E11.
@Suite("A killed server", .enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct KilledServerTests {
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Account","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"balance","type":"int","indexed":"general"},
        {"name":"hits","type":"int"},{"name":"last","type":"object","objectType":"Entry"}]},
        {"name":"Entry","primaryKey":"_id","properties":[{"name":"_id","type":"string"},{"name":"text","type":"string","indexed":"fulltext"},
        {"name":"tags","type":"string","collection":"list"},{"name":"account","type":"object","objectType":"Account"}]}]}
        """
    private static let accounts = 12
    private static let startBalance = 1000

    /// What the clients of one life of the server know.
    private struct Ledger {
        /// Creates that were answered.
        var created: Set<String> = []
        /// Increments that were answered, and those that were sent, by account.
        var answered = [Int](repeating: 0, count: accounts)
        var sent = [Int](repeating: 0, count: accounts)
        var compactions = 0
        var failures: [String] = []
    }

    @Test(arguments: TestRun.seeds(quick: 1, long: 2))
    func `A25, A36: shows everything that was acknowledged`(_ seed: UInt64) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-killed-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = SeededGenerator(seed: seed)
        try fill(folder)
        let ledger = Monitor(Ledger())
        for round in 0..<(TestRun.isLong ? 100 : 4) {
            let server = try ServerProcess(["--data", folder])
            let milliseconds = Int.random(in: 20...400, using: &random)
            load(server, ledger, "\(seed)-\(round)", random.next(), killAfter: milliseconds)
            let place = "seed \(seed), round \(round), killed after \(milliseconds) ms"
            let report = try Snapshot(file: try RealmFile(path: folder + "/bank.realm")).verify()
            #expect(report.isClean, "\(place): \(report.errors.prefix(5))")
            if let error = FileInspector.shared?.errors(folder + "/bank.realm") { Issue.record("\(place): \(error)") }
            try check(folder, ledger, place)
        }
        #expect(ledger.withLock { $0.failures } == [])
        #expect(ledger.withLock { $0.compactions > 0 && !$0.created.isEmpty && $0.answered.reduce(0, +) > 0 })
        if let kept = TestRun.keptFiles {
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
            try? FileManager.default.removeItem(atPath: kept + "/killed-\(seed).realm")
            try FileManager.default.copyItem(atPath: folder + "/bank.realm", toPath: kept + "/killed-\(seed).realm")
        }
    }

    private func fill(_ folder: String) throws {
        let server = try ServerProcess(["--data", folder])
        let made = try post(HTTPClient(port: server.port), "", #"{"name":"bank","schema":\#(KilledServerTests.schema)}"#)
        try #require(made.status == 201, "\(made.text)")
        let bodies = (0..<KilledServerTests.accounts).map {
            #"{"_id":\#($0),"balance":\#(KilledServerTests.startBalance),"hits":0}"#
        }
        let filled = try post(HTTPClient(port: server.port), "/bank/objects/Account", "[" + bodies.joined(separator: ",") + "]")
        try #require(filled.status == 201, "\(filled.text)")
        #expect(server.stop() == 0)
    }

    private func post(_ client: HTTPClient, _ path: String, _ body: String) throws -> HTTPClient.Answer {
        try client.request("POST", "/v1/realms" + path, headers: [WriteServer.json], body: Array(body.utf8))
    }

    // MARK: - Load

    /// Clients that write until the server is gone.
    private func load(
        _ server: ServerProcess, _ ledger: Monitor<Ledger>, _ name: String, _ seed: UInt64, killAfter milliseconds: Int
    ) {
        let port = server.port
        let group = DispatchGroup()
        for index in 0..<6 {
            group.enter()
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                var random = SeededGenerator(seed: seed &+ UInt64(index))
                guard let client = try? HTTPClient(port: port) else { return }
                var step = 0
                while write(client, ledger, "\(name)-\(index)-\(step)", &random) { step += 1 }
            }
        }
        group.enter()
        Thread.detachNewThread { [self] in
            defer { group.leave() }
            compact(port, ledger)
        }
        usleep(UInt32(milliseconds) * 1000)
        server.kill()
        group.wait()
    }

    /// Replaces the file by a compact one again and again.
    private func compact(_ port: Int, _ ledger: Monitor<Ledger>) {
        guard let client = try? HTTPClient(port: port) else { return }
        while let answer = try? client.request("POST", "/v1/realms/bank/compact"), answer.isComplete {
            ledger.withLock { ledger in
                if answer.status == 200 { ledger.compactions += 1 } else { ledger.failures.append(answer.text) }
            }
        }
    }

    /// One write; false when the server does not answer any more.
    private func write(
        _ client: HTTPClient, _ ledger: Monitor<Ledger>, _ name: String, _ random: inout SeededGenerator
    ) -> Bool {
        let account = Int.random(in: 0..<KilledServerTests.accounts, using: &random)
        let other = (account + Int.random(in: 1..<KilledServerTests.accounts, using: &random)) % KilledServerTests.accounts
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let text = String(repeating: "\(name) ", count: Int.random(in: 1..<40, using: &random))
            let body = #"{"_id":"\#(name)","text":"\#(text)","tags":["a","b"],"account":\#(account)}"#
            guard let answer = try? post(client, "/bank/objects/Entry", body), answer.isComplete else { return false }
            ledger.withLock { ledger in
                if answer.status == 201 { ledger.created.insert(name) } else { ledger.failures.append(answer.text) }
            }
        case 1:
            ledger.withLock { $0.sent[account] += 1 }
            let body = #"{"ops":[{"increment":{"class":"Account","key":"\#(account)","property":"hits","by":1}}]}"#
            guard let answer = try? post(client, "/bank/batch", body), answer.isComplete else { return false }
            ledger.withLock { ledger in
                if answer.status == 200 { ledger.answered[account] += 1 } else { ledger.failures.append(answer.text) }
            }
        default:
            let amount = Int.random(in: 1..<50, using: &random)
            guard let answer = try? post(client, "/bank/batch", KilledServerTests.transfer(account, other, amount)),
                answer.isComplete
            else {
                return false
            }
            if answer.status != 200 { ledger.withLock { $0.failures.append(answer.text) } }
        }
        return true
    }

    private static func transfer(_ from: Int, _ to: Int, _ amount: Int) -> String {
        """
        {"ops":[{"increment":{"class":"Account","key":"\(from)","property":"balance","by":-\(amount)}},
        {"increment":{"class":"Account","key":"\(to)","property":"balance","by":\(amount)}}]}
        """
    }

    // MARK: - Checks

    /// Reads the file by another process of the server, which is ended in an orderly way.
    private func check(_ folder: String, _ ledger: Monitor<Ledger>, _ place: String) throws {
        let server = try ServerProcess(["--data", folder])
        let unfinished = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(".realm-rest-") }
        #expect(unfinished == [], "\(place)")
        let client = try HTTPClient(port: server.port)
        func get(_ path: String) throws -> HTTPClient.Answer { try client.request("GET", "/v1/realms/bank" + path) }
        let accounts = try get("/objects/Account?limit=1000").json["items"]?.elements ?? []
        #expect(accounts.count == KilledServerTests.accounts, "\(place)")
        let sum = accounts.compactMap { $0["balance"]?.int }.reduce(0, +)
        #expect(sum == KilledServerTests.accounts * KilledServerTests.startBalance, "\(place)")
        let entries = try get("/objects/Entry?format=ndjson&fields=_id&meta=none").text.split(separator: "\n")
        let names = Set(entries.map { String($0.dropFirst(#"{"_id":""#.count).dropLast(2)) })
        ledger.withLock { ledger in
            for account in accounts {
                guard let id = account["_id"]?.int, let hits = account["hits"]?.int else {
                    Issue.record("\(place): an account without numbers: \(account)")
                    continue
                }
                #expect(hits >= ledger.answered[id] && hits <= ledger.sent[id], "\(place): account \(id)")
                // From now on what is there counts.
                (ledger.answered[id], ledger.sent[id]) = (hits, hits)
            }
            let missing = ledger.created.subtracting(names)
            #expect(missing.isEmpty, "\(place): \(missing.count) creates are missing")
        }
        #expect(server.stop() == 0, "\(place)")
    }
}
