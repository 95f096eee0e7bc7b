// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Compactions and backups of a realm while many clients write to it and listen.
@Suite("Upkeep under load", .serialized, .enabled(if: ServerProcess.executable != nil, "the executable is not built"))
struct UpkeepUnderLoadTests {
    private static let writers = TestRun.isLong ? 32 : 6
    private static let listeners = TestRun.isLong ? 200 : 12
    /// The seconds of the load alone, and of the load with compactions and backups.
    private static let quietSeconds = TestRun.isLong ? 20.0 : 1.5
    private static let busySeconds = TestRun.isLong ? 60.0 : 4.0
    private static let compactionSeconds = TestRun.isLong ? 5.0 : 1.0
    private static let backupSeconds = TestRun.isLong ? 3.0 : 0.8
    private static let accountsPerWriter = 8
    private static let startBalance = 100

    /// What the threads of a run have seen.
    private struct Ledger {
        /// The seconds at which writes began, and how long they took.
        var writes: [(begin: Double, seconds: Double)] = []
        /// The seconds at which compactions began and ended.
        var compactions: [(begin: Double, end: Double)] = []
        var backups = 0
        var copies: [ClientCopy] = []
        var changeSets = 0
        var failures: [String] = []
        var isOver = false
    }

    private static let classes = """
        {"schemaVersion":1,"classes":[{"name":"Account","primaryKey":"_id","properties":[{"name":"_id","type":"int"},
        {"name":"writer","type":"int","indexed":"general"},{"name":"balance","type":"int"},{"name":"note","type":"string"}]},
        {"name":"Filler","properties":[{"name":"text","type":"string"}]}]}
        """

    @Test func `E11: compactions and backups lose no write and no change, and every backup is one committed state`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-upkeep-\(UUID().uuidString)"
        let copies = folder + "/copies"
        try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try ServerProcess([
            "--data", folder, "--limit", "streams-per-principal=500", "--limit", "connections-per-address=900",
        ])
        try fill(server)
        let ledger = Monitor(Ledger())
        run(server.port, copies, ledger)
        #expect(ledger.withLock { $0.failures } == [])
        try checkListeners(server.port, ledger)
        #expect(server.stop() == 0)
        let report = try Snapshot(file: try RealmFile(path: folder + "/bank.realm")).verify()
        #expect(report.isClean, "\(report.errors.prefix(5))")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(".realm-rest-") } == [])
        try checkBackups(copies, ledger)
        checkLatency(ledger)
    }

    private func fill(_ server: ServerProcess) throws {
        let client = try HTTPClient(port: server.port)
        func post(_ path: String, _ body: String) throws {
            let answer = try client.request("POST", "/v1/realms" + path, headers: [WriteServer.json], body: Array(body.utf8))
            try #require(answer.status == 201, "\(answer.text)")
        }
        try post("", #"{"name":"bank","schema":\#(UpkeepUnderLoadTests.classes)}"#)
        let each = UpkeepUnderLoadTests.accountsPerWriter
        let accounts = (0..<UpkeepUnderLoadTests.writers * each).map {
            #"{"_id":\#($0),"writer":\#($0 / each),"balance":\#(UpkeepUnderLoadTests.startBalance),"note":""}"#
        }
        try post("/bank/objects/Account", "[" + accounts.joined(separator: ",") + "]")
        let text = String(repeating: "f", count: 500)
        let fillers = Array(repeating: #"{"text":"\#(text)"}"#, count: 2000).joined(separator: ",")
        for _ in 0..<(TestRun.isLong ? 10 : 2) { try post("/bank/objects/Filler", "[" + fillers + "]") }
    }

    // MARK: - Load

    /// Runs all clients until the time is over and every listener has seen the last write.
    private func run(_ port: Int, _ folder: String, _ ledger: Monitor<Ledger>) {
        let begin = Date()
        let listening = DispatchGroup()
        let ready = DispatchGroup()
        for index in 0..<UpkeepUnderLoadTests.listeners {
            ready.enter()
            spawn(listening, ledger) { try listen(port, index % UpkeepUnderLoadTests.writers, ready, ledger) }
        }
        ready.wait()
        let writing = DispatchGroup()
        for index in 0..<UpkeepUnderLoadTests.writers { spawn(writing, ledger) { try write(port, index, begin, ledger) } }
        Thread.sleep(forTimeInterval: UpkeepUnderLoadTests.quietSeconds)
        let upkeep = DispatchGroup()
        spawn(upkeep, ledger) { try compact(port, begin, ledger) }
        spawn(upkeep, ledger) { try backUp(port, folder, ledger) }
        Thread.sleep(forTimeInterval: UpkeepUnderLoadTests.busySeconds)
        ledger.withLock { $0.isOver = true }
        writing.wait()
        upkeep.wait()
        listening.wait()
    }

    private func spawn(_ group: DispatchGroup, _ ledger: Monitor<Ledger>, _ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        Thread.detachNewThread {
            defer { group.leave() }
            do { try body() } catch { ledger.withLock { $0.failures.append("\(error)") } }
        }
    }

    /// Moves amounts among the accounts of a writer, and marks them all in its last write.
    private func write(_ port: Int, _ writer: Int, _ begin: Date, _ ledger: Monitor<Ledger>) throws {
        var random = SeededGenerator(seed: UInt64(writer + 1))
        let client = try HTTPClient(port: port)
        let count = UpkeepUnderLoadTests.accountsPerWriter
        func send(_ operations: [String]) throws {
            let body = #"{"ops":[\#(operations.joined(separator: ","))]}"#
            let start = Date()
            let answer = try client.request("POST", "/v1/realms/bank/batch", headers: [WriteServer.json], body: Array(body.utf8))
            let sample = (start.timeIntervalSince(begin), Date().timeIntervalSince(start))
            ledger.withLock { ledger in
                ledger.writes.append(sample)
                if answer.status != 200 { ledger.failures.append("a write: \(answer.status) \(answer.text)") }
            }
        }
        while !ledger.withLock({ $0.isOver || !$0.failures.isEmpty }) {
            let from = Int.random(in: 0..<count, using: &random)
            let to = (from + Int.random(in: 1..<count, using: &random)) % count
            let amount = Int.random(in: 1...20, using: &random)
            let note = String(repeating: "n", count: Int.random(in: 1...4000, using: &random))
            try send([
                change(writer * count + from, by: -amount), change(writer * count + to, by: amount),
                #"{"patch":{"class":"Account","key":"\#(writer * count + from)","body":{"note":"\#(note)"}}}"#,
            ])
        }
        try send((0..<count).map { #"{"patch":{"class":"Account","key":"\#(writer * count + $0)","body":{"note":"end"}}}"# })
    }

    private func change(_ account: Int, by amount: Int) -> String {
        #"{"increment":{"class":"Account","key":"\#(account)","property":"balance","by":\#(amount)}}"#
    }

    private static func target(_ writer: Int) -> String {
        "/v1/realms/bank/changes?class=Account&where=writer%20%3D%3D%20\(writer)"
    }

    /// Keeps a copy up until it shows the last write of its writer. What is told begins where the
    /// last told version was.
    private func listen(_ port: Int, _ writer: Int, _ ready: DispatchGroup, _ ledger: Monitor<Ledger>) throws {
        var isReady = false
        defer { if !isReady { ready.leave() } }
        let stream = try EventClient(port: port, UpkeepUnderLoadTests.target(writer))
        var copy = ClientCopy()
        var position: String?
        var sets = 0
        while !copy.isMarked {
            guard let event = try stream.next() else { throw EventClient.Failure(description: "a stream ended") }
            switch event.name {
            case "snapshot":
                copy.take(snapshot: event.json)
                position = event.json["version"]?.text
            case "ready":
                isReady = true
                ready.leave()
            case "changes":
                guard event.json["from"]?.text == position else {
                    throw EventClient.Failure(description: "from \(event.json["from"]?.serialized ?? ""), not \(position ?? "")")
                }
                try copy.apply(event.json)
                sets += 1
            case "":
                // A heartbeat: nothing comes any more when the writers have failed.
                if ledger.withLock({ !$0.failures.isEmpty }) { return }
            default: throw EventClient.Failure(description: "\(event.name): \(event.data.prefix(300))")
            }
            if let id = event.id { position = id }
        }
        ledger.withLock {
            $0.copies.append(copy)
            $0.changeSets += sets
        }
    }

    private func compact(_ port: Int, _ begin: Date, _ ledger: Monitor<Ledger>) throws {
        let client = try HTTPClient(port: port)
        while !ledger.withLock({ $0.isOver }) {
            let start = Date().timeIntervalSince(begin)
            let answer = try client.request("POST", "/v1/realms/bank/compact")
            ledger.withLock { ledger in
                ledger.compactions.append((start, Date().timeIntervalSince(begin)))
                if answer.status != 200 { ledger.failures.append("a compaction: \(answer.status) \(answer.text)") }
            }
            Thread.sleep(forTimeInterval: UpkeepUnderLoadTests.compactionSeconds)
        }
    }

    private func backUp(_ port: Int, _ folder: String, _ ledger: Monitor<Ledger>) throws {
        let client = try HTTPClient(port: port)
        while !ledger.withLock({ $0.isOver }) {
            let answer = try client.request("GET", "/v1/realms/bank/backup")
            guard answer.status == 200, answer.isComplete else {
                throw EventClient.Failure(description: "a backup: \(answer.status) \(answer.text.prefix(300))")
            }
            let number = ledger.withLock { ledger in
                ledger.backups += 1
                return ledger.backups
            }
            try Data(answer.body).write(to: URL(fileURLWithPath: "\(folder)/copy\(number).realm"))
            Thread.sleep(forTimeInterval: UpkeepUnderLoadTests.backupSeconds)
        }
    }

    // MARK: - Checks

    /// Compares what each listener has with what the realm has.
    private func checkListeners(_ port: Int, _ ledger: Monitor<Ledger>) throws {
        var fresh: [ClientCopy] = []
        for writer in 0..<UpkeepUnderLoadTests.writers {
            let stream = try EventClient(port: port, UpkeepUnderLoadTests.target(writer))
            var copy = ClientCopy()
            while let event = try stream.next(), event.name != "ready" {
                if event.name == "snapshot" { copy.take(snapshot: event.json) }
            }
            #expect(copy.rows.count == UpkeepUnderLoadTests.accountsPerWriter)
            fresh.append(copy)
        }
        let (copies, changeSets) = ledger.withLock { ($0.copies, $0.changeSets) }
        #expect(copies.count == UpkeepUnderLoadTests.listeners)
        #expect(copies.allSatisfy { copy in fresh.contains { $0.rows == copy.rows } })
        #expect(changeSets >= UpkeepUnderLoadTests.listeners * 2)
    }

    /// Every backup is sound, and shows the sum of all accounts that no transfer changes.
    private func checkBackups(_ folder: String, _ ledger: Monitor<Ledger>) throws {
        let server = try ServerProcess([folder])
        let client = try HTTPClient(port: server.port)
        let accounts = UpkeepUnderLoadTests.writers * UpkeepUnderLoadTests.accountsPerWriter
        let count = ledger.withLock { $0.backups }
        #expect(count >= 2)
        for number in 1...max(count, 1) {
            let report = try Snapshot(file: try RealmFile(path: "\(folder)/copy\(number).realm")).verify()
            #expect(report.isClean, "backup \(number): \(report.errors.prefix(5))")
            let answer = try client.request("GET", "/v1/realms/copy\(number)/aggregate/Account?ops=sum:balance,count")
            #expect(
                answer.json["sum:balance"]?.int == accounts * UpkeepUnderLoadTests.startBalance,
                "backup \(number): \(answer.text)")
            #expect(answer.json["count"]?.int == accounts, "backup \(number)")
        }
        #expect(server.stop() == 0)
    }

    /// Compares how long writes take during compactions and before the first of them.
    private func checkLatency(_ ledger: Monitor<Ledger>) {
        let (writes, compactions) = ledger.withLock { ($0.writes, $0.compactions) }
        #expect(compactions.count >= 2)
        let firstBegin = compactions.first?.begin ?? 0
        let before = writes.filter { $0.begin + $0.seconds < firstBegin }.map(\.seconds)
        let during = writes.filter { write in
            compactions.contains { write.begin < $0.end && write.begin + write.seconds > $0.begin }
        }.map(\.seconds)
        let (calm, loaded) = (UpkeepUnderLoadTests.percentile(before), UpkeepUnderLoadTests.percentile(during))
        print(
            "p99 of \(before.count) writes before: \(calm) s; of \(during.count) during \(compactions.count) compactions: \(loaded) s"
        )
        // Short runs share the machine with other tests, so they only show that writes do not stand still.
        #expect(TestRun.isLong ? loaded <= 5 * calm : loaded < 10)
    }

    private static func percentile(_ seconds: [Double]) -> Double {
        let sorted = seconds.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }
}

extension ClientCopy {
    /// Whether it shows the last write of its writer.
    fileprivate var isMarked: Bool { !rows.isEmpty && rows.allSatisfy { $0.serialized.contains(#""note":"end""#) } }
}
