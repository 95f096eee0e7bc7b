// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Random writes of every kind over HTTP, with the server stopped and started in between, compared with a model. Features A24–A55.
///
/// `REALM_REST_WORKLOAD_FILES=FOLDER` keeps the files for other programs to look at, `REALM_REST_WORKLOAD_SEEDS=N` tells how many
/// seeds there are.
@Suite("Workloads over HTTP") struct HTTPWorkloadTests {
    struct Run: Sendable, CustomTestStringConvertible {
        let schema: String
        let seed: UInt64
        /// Every fourth is encrypted.
        var isEncrypted: Bool { (seed + UInt64(WorkloadSchemas.names.firstIndex(of: schema) ?? 0)) % 4 == 0 }
        var realm: String { "\(schema)-\(seed)" + (isEncrypted ? "-encrypted" : "") }
        var testDescription: String { realm }
    }

    static let runs = TestRun.seeds(quick: 1, long: 22).flatMap { seed in
        WorkloadSchemas.names.map { Run(schema: $0, seed: seed) }
    }

    /// Every how many requests the realm is verified while it is served.
    private static let verifiedEvery = TestRun.isLong ? 5 : 10

    private func createBody(_ run: Run) -> String {
        let key = run.isEncrypted ? #","encryptionKey":"\#(Data(Fixtures.key).base64EncodedString())""# : ""
        return #"{"name":"\#(run.realm)","schema":\#(WorkloadSchemas.document(run.schema))\#(key)}"#
    }

    @Test(arguments: runs)
    func `leave what a model says, in files that verify`(_ run: Run) throws {
        let server = try WorkloadServer(encrypted: run.isEncrypted ? [run.realm] : [])
        var port = try server.start()
        let made = try HTTPClient.request(
            port: port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(createBody(run).utf8))
        try #require(made.status == 201, "\(made.text)")
        let workload = try HTTPWorkload(port: port, realm: run.realm, seed: run.seed)
        if run.schema == "shop" { workload.objectLimit = 400 }
        let (openings, operations) = TestRun.isLong ? (5, 1000) : (2, 120)
        var steps = 0
        var problems: [String] = []
        do {
            for opening in 1...openings {
                while workload.operations < operations * opening / openings {
                    try workload.step()
                    steps += 1
                    if steps % HTTPWorkloadTests.verifiedEvery == 0 { problems += server.liveProblems(run.realm) }
                    if !problems.isEmpty { break }
                }
                server.stop()
                problems += try server.problems(run.realm)
                #expect(problems.isEmpty, "\(run.realm), opening \(opening): \(problems.prefix(5))")
                port = try server.start()
                try workload.reconnect(port: port)
                try workload.compare()
            }
            try workload.copy(kept: TestRun.keptFiles != nil)
        } catch {
            Issue.record("\(error)")
        }
        server.stop()
        try server.keep(run.realm, as: run.realm)
        if TestRun.keptFiles != nil {
            try? server.keep(run.realm + "-copy", as: run.realm.replacing("-encrypted", with: "") + "-copy")
        }
        HTTPWorkloadTests.report(run.realm, workload)
    }

    /// Files that nobody may write to are refused; damaged ones keep the damage that they came with, and get no other.
    @Test(arguments: TestRun.isLong ? Fixtures.names : ["links", "embedded", "mixed"])
    func `go on in the files of the reference engine`(_ name: String) throws {
        let original = try Fixtures.path(name)
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let excused = try Snapshot(file: try RealmFile(path: original, key: key)).verify().errors
        let server = try WorkloadServer(encrypted: key == nil ? [] : [name])
        try FileManager.default.copyItem(atPath: original, toPath: server.path(name))
        let port = try server.start()
        // The first request opens the file.
        _ = try HTTPClient.request(port: port, "GET", "/v1/realms/\(name)/schema")
        let realm = try HTTPClient.request(port: port, "GET", "/v1/realms/" + name)
        guard realm.json["mode"]?.text == "rw" else {
            let answer = try HTTPClient.request(
                port: port, "POST", "/v1/realms/\(name)/batch", headers: [WriteServer.json], body: Array(#"{"ops":[]}"#.utf8))
            return #expect(answer.code == "read_only", "\(realm.text)")
        }
        let workload = try HTTPWorkload(port: port, realm: name, seed: 7)
        workload.migrates = realm.json["schemaVersion"]?.int != nil
        workload.objectLimit = workload.model.count + 50
        let (openings, operations) = TestRun.isLong ? (3, 300) : (1, 40)
        do {
            for opening in 1...openings {
                while workload.operations < operations * opening / openings { try workload.step() }
                server.stop()
                let problems = try server.problems(name, excused: excused)
                #expect(problems.isEmpty, "\(name), opening \(opening): \(problems.prefix(5))")
                try workload.reconnect(port: try server.start())
                try workload.compare()
            }
        } catch {
            Issue.record("\(error)")
        }
        server.stop()
        try server.keep(name, as: "fixture-" + name)
        HTTPWorkloadTests.report(name, workload)
    }

    /// What a long run did, for whoever reads its output.
    private static func report(_ realm: String, _ workload: HTTPWorkload) {
        guard TestRun.isLong else { return }
        print("workload \(realm): \(workload.operations) operations, \(workload.model.count) objects")
        guard ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_STATISTICS"] != nil else { return }
        for (kind, count) in workload.statistics.sorted(by: { $0.value > $1.value }) { print("  \(count) \(kind)") }
    }
}
