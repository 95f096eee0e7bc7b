// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// A server that is killed while it restores a realm has the old file or the new one, whole. Features A18, E11.
@Suite("A server killed in a restore", .enabled(if: ServerProcess.executable != nil, "the executable is not built"))
struct KilledRestoreTests {
    /// How many objects a file has; each of them names the file.
    private static let objectCount = 300

    /// What the client knows about one life of the server.
    private struct Ledger {
        /// The file that was restored last with an answer, and the one whose restore was sent last.
        var (answered, sent) = (0, 0)
        var restores = 0
        var failures: [String] = []
    }

    @Test(arguments: TestRun.seeds(quick: 1, long: 2))
    func `A18: a killed restore leaves the old or the new file, and nothing else`(_ seed: UInt64) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-restored-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = try [0, 1].map { try contents($0, in: folder) }
        try files[0].write(to: URL(fileURLWithPath: folder + "/main.realm"))
        var random = SeededGenerator(seed: seed)
        let ledger = Monitor(Ledger())
        for round in 0..<(TestRun.isLong ? 100 : 6) {
            let server = try ServerProcess(["--data", folder])
            // Every second round is killed after restores that were answered, however busy the machine is.
            let count = round % 2 * Int.random(in: 1...3, using: &random)
            let milliseconds = Int.random(in: 5...100, using: &random)
            restore(files, server, ledger, killAfter: count, milliseconds)
            try check(folder, ledger, "seed \(seed), round \(round), killed \(milliseconds) ms after restore \(count)")
        }
        // The next restore that ends removes all copies but the newest.
        let server = try ServerProcess(["--data", folder])
        let last = try HTTPClient(port: server.port).request(
            "POST", "/v1/realms/main/restore", headers: [("Content-Type", "application/octet-stream")], body: Array(files[0]))
        #expect(last.status == 200 && server.stop() == 0)
        #expect(keptCopies(try FileManager.default.contentsOfDirectory(atPath: folder)).count == 1)
        #expect(ledger.withLock { $0.failures } == [])
        #expect(ledger.withLock { $0.restores } > 0)
    }

    /// The bytes of a realm whose objects all have the number of the file.
    private func contents(_ number: Int, in folder: String) throws -> Data {
        let server = try ServerProcess(["--data", folder])
        let client = try HTTPClient(port: server.port)
        func post(_ path: String, _ body: String) throws -> HTTPClient.Answer {
            try client.request("POST", "/v1/realms" + path, headers: [WriteServer.json], body: Array(body.utf8))
        }
        let schema = """
            {"name":"source","schema":{"schemaVersion":1,"classes":[{"name":"Entry","primaryKey":"_id","properties":[
            {"name":"_id","type":"int"},{"name":"file","type":"int"},{"name":"text","type":"string"}]}]}}
            """
        #expect(try post("", schema).status == 201)
        let text = String(repeating: "text of \(number) ", count: 10)
        let bodies = (0..<Self.objectCount).map { #"{"_id":\#($0),"file":\#(number),"text":"\#(text)"}"# }
        #expect(try post("/source/objects/Entry", "[" + bodies.joined(separator: ",") + "]").status == 201)
        let backup = try client.request("GET", "/v1/realms/source/backup")
        #expect(backup.status == 200)
        #expect(try client.request("DELETE", "/v1/realms/source?files=true").status == 204)
        #expect(server.stop() == 0)
        return Data(backup.body)
    }

    /// Restores both files in turn until the server is gone: killed a time after so many restores, or after a minute without them.
    private func restore(
        _ files: [Data], _ server: ServerProcess, _ ledger: Monitor<Ledger>, killAfter count: Int, _ milliseconds: Int
    ) {
        let awaited = ledger.withLock { $0.restores } + count
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread { [port = server.port] in
            defer { group.leave() }
            guard let client = try? HTTPClient(port: port) else { return }
            while true {
                let next = ledger.withLock { ledger in
                    ledger.sent = 1 - ledger.answered
                    return ledger.sent
                }
                let answer = try? client.request(
                    "POST", "/v1/realms/main/restore", headers: [("Content-Type", "application/octet-stream")],
                    body: Array(files[next]))
                guard let answer, answer.isComplete else { return }
                ledger.withLock { ledger in
                    ledger.answered = next
                    ledger.restores += 1
                    if answer.status != 200 { ledger.failures.append(answer.text) }
                }
            }
        }
        for _ in 0..<12_000 where ledger.withLock({ $0.restores }) < awaited { usleep(5000) }
        usleep(UInt32(milliseconds) * 1000)
        server.kill()
        group.wait()
    }

    /// Checks the file as the kill has left it, and by the next server.
    private func check(_ folder: String, _ ledger: Monitor<Ledger>, _ place: String) throws {
        let report = try Snapshot(file: try RealmFile(path: folder + "/main.realm")).verify()
        #expect(report.isClean, "\(place): \(report.errors.prefix(5))")
        let server = try ServerProcess(["--data", folder])
        let client = try HTTPClient(port: server.port)
        let items =
            try client.request("GET", "/v1/realms/main/objects/Entry?limit=1000&fields=file").json["items"]?.elements ?? []
        #expect(items.count == Self.objectCount, "\(place)")
        let found = Set(items.compactMap { $0["file"]?.int })
        ledger.withLock { ledger in
            #expect(found == [ledger.answered] || found == [ledger.sent], "\(place): \(found)")
            ledger.answered = found.first ?? 0
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.filter { $0.hasPrefix(".realm-rest-") } == [], "\(place)")
        // What was there before restores is kept, whole. A killed one does not come to removing older copies.
        let kept = keptCopies(names)
        for name in kept {
            #expect(try Snapshot(file: try RealmFile(path: folder + "/" + name)).verify().isClean, "\(place): \(name)")
        }
        let listed = try client.request("GET", "/v1/realms/main/backups").json["items"]?.elements ?? []
        #expect(listed.count == kept.count, "\(place): \(kept)")
        #expect(server.stop() == 0, "\(place)")
    }

    /// The names of copies beside the file, among those in its folder.
    private func keptCopies(_ names: [String]) -> [String] {
        let others: Set = ["main.realm", "main.realm.lock", "main.realm.note", "main.realm.management"]
        return names.filter { $0.hasPrefix("main.") && !others.contains($0) }
    }
}
