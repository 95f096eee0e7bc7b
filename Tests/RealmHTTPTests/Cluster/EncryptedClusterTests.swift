// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmReplica
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Encrypted realms of a cluster, at nodes that have the key and at one that has not.
@Suite(.enabled(if: PostgresServer.isPresent), .serialized) struct EncryptedClusterTests {
    private static let text = String(repeating: "5a", count: 64)
    private let dogs = "/v1/realms/secret/objects/Dog"

    /// Two nodes with the key of a realm, a third without it, and the realm, which the first one owns.
    private func cluster() throws -> TestCluster {
        let key = try EncryptionKey(text: EncryptedClusterTests.text)
        func change(_ options: inout ServerOptions) {
            options.keys["secret"] = key
            options.cluster.bases.records = 5
            options.cluster.bases.bytes = 1
            options.cluster.bases.bytesPerByte = 0
            options.cluster.bases.checkSeconds = 0.05
        }
        let cluster = try TestCluster(["n1", "n2"], change: change)
        try cluster.start("n3")
        cluster.keys["secret"] = key
        try cluster.make("secret", on: "n1", key: EncryptedClusterTests.text)
        return cluster
    }

    @Test func `nodes with the key serve it, and one without says so`() throws {
        let cluster = try cluster()
        #expect(try cluster.add(1, to: "secret", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "secret", on: "n2") == ["1"])
        for id in ["n1", "n2"] {
            #expect(try cluster.send(id, "GET", "/v1/realms/secret").json["encrypted"]?.bool == true, "\(id)")
        }
        for _ in 0..<3 {
            let refused = try cluster.send("n3", "GET", dogs)
            #expect(refused.code == "encryption_key_required", "\(refused.text)")
        }
        #expect(!FileManager.default.fileExists(atPath: cluster.path("secret", on: "n3")))
        // It serves all else.
        try cluster.make("open", on: "n1")
        #expect(try cluster.add(7, to: "open", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "open", on: "n3") == ["7"])
        // A follower goes on, and becomes the owner.
        for dog in 2...40 {
            let version = try #require(try cluster.add(dog, to: "secret", on: "n1")["Realm-Version"])
            let read = try cluster.send("n2", "GET", dogs + "/\(dog)", headers: [("Realm-Min-Version", version)])
            #expect(read.status == 200, "\(read.text)")
        }
        #expect(eventually { (try? cluster.metric("cluster_prunings_total", on: "n1")) != "0" })
        #expect(try cluster.metric("cluster_base_failures_total", on: "n1") == "0")
        try cluster.move("secret", to: "n2")
        let key = [("Idempotency-Key", "once")]
        let body = #"{"id":41,"name":"Rex 41"}"#
        #expect(try cluster.send("n2", "POST", dogs, body, headers: key).status == 201)
        try cluster.move("secret", to: "n1")
        // The node that repeats it has to recognize it by what the log knows.
        let again = try cluster.send("n1", "POST", dogs, body, headers: key)
        #expect(again.status == 204 && again["Idempotency-Replayed"] == "true", "\(again.status) \(again.text)")
        let reused = try cluster.send("n1", "POST", dogs, #"{"id":42,"name":"Rex 42"}"#, headers: key)
        #expect(reused.code == "idempotency_key_reused", "\(reused.text)")
        #expect(try cluster.dogs(of: "secret", on: "n1").count == 41)
        try expectSealed(cluster)
        try cluster.finish()
    }

    @Test func `a node that is given the key serves it from then on`() throws {
        let cluster = try cluster()
        for dog in 1...3 { #expect(try cluster.add(dog, to: "secret", on: "n1").status == 201) }
        #expect(try cluster.send("n3", "GET", dogs).code == "encryption_key_required")
        #expect(try cluster.send("n3", "GET", "/readyz").status == 200)
        // Each attempt reads a base, so there are fewer and fewer of them, however many requests there are.
        let catalog = try #require(cluster.nodes["n3"]).state.catalog
        #expect(eventually { !catalog.isDue("secret", Instant.now().adding(seconds: 3)) })
        #expect(eventually { catalog.isDue("secret", Instant.now().adding(seconds: 61)) })
        let wrong = #"{"encryptionKey":"\#(String(repeating: "11", count: 64))"}"#
        let refused = try cluster.send("n3", "PUT", "/v1/realms/secret/key", wrong)
        #expect(refused.code == "encryption_key_wrong", "\(refused.status) \(refused.text)")
        let right = #"{"encryptionKey":"\#(EncryptedClusterTests.text)"}"#
        let opened = try cluster.send("n3", "PUT", "/v1/realms/secret/key", right)
        #expect(opened.status == 204, "\(opened.status) \(opened.text)")
        #expect(try cluster.dogs(of: "secret", on: "n3") == ["1", "2", "3"])
        // A node that has it, as owner or as follower, says what a server by itself says.
        let codes = try ["n1", "n3"].map { try cluster.send($0, "PUT", "/v1/realms/secret/key", right).code }
        #expect(codes[0] == codes[1] && codes[0] != "not_owner", "\(codes)")
        try cluster.finish()
    }

    @Test func `a node that was lost is replaced, and comes back with its file`() throws {
        let cluster = try cluster()
        for dog in 1...10 { #expect(try cluster.add(dog, to: "secret", on: "n1").status == 201) }
        try cluster.move(0..<Shard.count, to: "n2")
        cluster.nodes.removeValue(forKey: "n1")?.stop()
        for dog in 11...14 { #expect(try cluster.add(dog, to: "secret", on: "n2").status == 201) }
        try cluster.start("n1") { options in options.keys["secret"] = cluster.keys["secret"] }
        #expect(try cluster.dogs(of: "secret", on: "n1").count == 14)
        #expect(try cluster.metric("cluster_hydrations_total", on: "n1") == "0")
        try expectSealed(cluster)
        try cluster.finish()
    }

    /// Reads all that the log has of the realm, and makes the newest version of it.
    private func expectSealed(_ cluster: TestCluster) throws {
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        defer { log.close() }
        let head = try LogReplay.head(of: "secret", in: log)
        var pieces: [Data] = []
        try log.records(of: "secret", lineage: head.lineage, versions: 1...head.version) {
            (bytes: [UInt8]) throws(StorageError) in
            pieces.append(Data(bytes))
        }
        for base in try log.bases(of: "secret") {
            let file = try NewFile(nextTo: NSTemporaryDirectory() + "base")
            try log.fetch(base, of: "secret", into: file.descriptor)
            pieces.append(try Data(contentsOf: URL(fileURLWithPath: file.openPath)))
        }
        #expect(pieces.count > 1)
        for text in ["Rex 1", "class_Dog"] {
            #expect(!pieces.contains { $0.range(of: Data(text.utf8)) != nil }, "\(text)")
        }
        let made = try LogReplay("secret", path: NSTemporaryDirectory() + "made", log: log, key: cluster.keys["secret"])
            .restore(head.version, of: head)
        let snapshot = try Snapshot(file: try RealmFile(path: made.openPath, key: cluster.keys["secret"]))
        #expect(snapshot.version == head.version && snapshot.verify().isClean)
    }
}
