// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmReplica
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Servers as nodes of one cluster, over HTTP.
@Suite(.enabled(if: PostgresServer.isPresent), .serialized) struct ClusterServerTests {
    @Test func `a realm is served by the node of its shard, and others name that`() throws {
        let cluster = try TestCluster(["n1", "n2"]) { $0.cluster.replicas = .none }
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(1, to: "store", on: "n1").status == 201)
        for (method, target, body) in [
            ("GET", "/v1/realms/store/objects/Dog", nil), ("GET", "/v1/realms/store", nil), ("DELETE", "/v1/realms/store", nil),
            ("POST", "/v1/realms/store/objects/Dog", #"{"id":2}"#), ("GET", "/v1/realms/store/changes/Dog", nil),
        ] as [(String, String, String?)] {
            let answer = try cluster.send("n2", method, target, body)
            #expect(answer.status == 421 && answer.code == "not_owner", "\(method) \(target): \(answer.text)")
            #expect(answer["Realm-Owner"] == "http://n1.example:8080" && answer.json["node"]?.text == "n1")
            #expect(answer["X-Accel-Redirect"] == nil)
        }
        let made = try cluster.send("n2", "POST", "/v1/realms", #"{"name":"other"}"#)
        #expect(made.code == "not_owner" && made["Realm-Owner"] == "http://n1.example:8080")
        #expect(try cluster.send("n1", "GET", "/v1/realms/nobody/objects/Dog").code == "realm_not_found")
        #expect(try cluster.metric("cluster_hand_overs_total", on: "n2") == "6")
        #expect(try cluster.metric("cluster_owned_realms", on: "n1") == "1")
        let nodes = try cluster.send("n2", "GET", "/v1/cluster").json
        #expect(nodes["node"]?.text == "n2" && nodes["nodes"]?.elements?.map { $0["state"]?.text } == ["living", "living"])
        try cluster.finish()
    }

    @Test func `a shard that moves takes its realms along, and tokens stay valid`() throws {
        let cluster = try TestCluster(["n1", "n2"])
        try cluster.make("store", on: "n1")
        let first = try cluster.add(1, to: "store", on: "n1")
        try cluster.move("store", to: "n2")
        #expect(try cluster.add(2, to: "store", on: "n1").code == "not_owner")
        let second = try cluster.add(2, to: "store", on: "n2")
        #expect(second.status == 201, "\(second.text)")
        let epochs = [first, second].map { $0["Realm-Version"]?.prefix { $0 != "." } }
        #expect(epochs[0] == epochs[1] && epochs[0] != nil)
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1", "2"])
        #expect(try cluster.metric("cluster_hydrations_total", on: "n2") == "1")
        // The file that was left behind is followed, and brought up by records.
        #expect(eventually { (try? cluster.metric("replica_records_total", on: "n1")) == "1" })
        try cluster.move("store", to: "n1")
        #expect(try cluster.add(3, to: "store", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "store", on: "n1") == ["1", "2", "3"])
        #expect(try cluster.metric("cluster_hydrations_total", on: "n1") == "0")
        // One that was made again is not in the log twice.
        #expect(try cluster.send("n1", "POST", "/v1/realms", #"{"name":"store"}"#).code == "already_attached")
        try cluster.finish()
    }

    @Test func `a node that lost a realm says so at the next write, and may get it again`() throws {
        let cluster = try TestCluster(["n1", "n2"])
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(1, to: "store", on: "n1").status == 201)
        // Somebody claims the realm behind the back of its node, as a node with another map would.
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        let head = try LogReplay.head(of: "store", in: log)
        let thief = LogOwner(node: "n2", token: "thief")
        let call = LogCall(realm: "store", owner: thief, request: .claim(over: head.epoch))
        guard case .claimed = log.perform(call, until: .now().adding(seconds: 10)) else { return #expect(Bool(false)) }
        let answer = try cluster.add(2, to: "store", on: "n1")
        #expect(answer.status == 421 && answer.code == "not_owner" && answer.json["node"]?.text == "n2", "\(answer.text)")
        // By the map it is still this node's, which claims it for the next request.
        #expect(eventually { (try? cluster.add(2, to: "store", on: "n1").status) == 201 })
        #expect(try cluster.dogs(of: "store", on: "n1") == ["1", "2"])
        #expect(try cluster.metric("cluster_fenced_total", on: "n1") == "1")
        log.close()
        try cluster.finish()
    }

    @Test func `without the log nothing is written, and reads go on`() throws {
        let cluster = try TestCluster(["n1"])
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(1, to: "store", on: "n1").status == 201)
        cluster.log.stop()
        let answer = try cluster.add(2, to: "store", on: "n1")
        #expect(answer.status == 503, "\(answer.text)")
        #expect(["log_unavailable", "outcome_unknown"].contains(answer.code ?? ""), "\(answer.text)")
        #expect(answer["Retry-After"] != nil)
        if answer.code == "log_unavailable" { #expect(try cluster.dogs(of: "store", on: "n1") == ["1"]) }
        #expect(eventually { (try? cluster.send("n1", "GET", "/v1/cluster").json["isCurrent"]?.plainText) == "false" })
        // A realm that was not open yet cannot be opened.
        let other = try cluster.send("n1", "POST", "/v1/realms", #"{"name":"other"}"#)
        #expect(other.code == "log_unavailable", "\(other.text)")
        try cluster.finish()
    }

    @Test func `a restored file begins the history anew on every node`() throws {
        let cluster = try TestCluster(["n1", "n2"])
        try cluster.make("store", on: "n1")
        let first = try cluster.add(1, to: "store", on: "n1")
        let backup = try cluster.send("n1", "POST", "/v1/realms/store/backups")
        let id = try #require(backup.json["id"]?.text, "\(backup.text)")
        #expect(try cluster.add(2, to: "store", on: "n1").status == 201)
        let restored = try cluster.send("n1", "POST", "/v1/realms/store/restore", #"{"backup":"\#(id)"}"#)
        #expect(restored.status == 200, "\(restored.text)")
        #expect(try cluster.dogs(of: "store", on: "n1") == ["1"])
        let next = try cluster.add(3, to: "store", on: "n1")
        #expect(next.status == 201, "\(next.text)")
        #expect(first["Realm-Version"]?.prefix { $0 != "." } != next["Realm-Version"]?.prefix { $0 != "." })
        try cluster.move("store", to: "n2")
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1", "3"])
        try cluster.finish()
    }

    @Test func `a realm that was deleted is gone everywhere, and its name is free`() throws {
        let cluster = try TestCluster(["n1", "n2"])
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(1, to: "store", on: "n1").status == 201)
        try cluster.move("store", to: "n2")
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1"])
        #expect(try cluster.send("n2", "DELETE", "/v1/realms/store?files=true").status == 204)
        #expect(try cluster.send("n2", "GET", "/v1/realms/store/objects/Dog").code == "realm_not_found")
        // The other node has a file of a realm that the log was told to forget.
        try cluster.move("store", to: "n1")
        #expect(eventually { (try? cluster.send("n1", "GET", "/v1/realms/store/objects/Dog").code) == "realm_not_found" })
        #expect(!FileManager.default.fileExists(atPath: cluster.path("store", on: "n1")))
        try cluster.move("store", to: "n2")
        try cluster.make("store", on: "n2")
        #expect(try cluster.add(7, to: "store", on: "n2").status == 201)
        #expect(try cluster.dogs(of: "store", on: "n2") == ["7"])
        try cluster.move("store", to: "n1")
        // What has failed is tried again once a second.
        #expect(eventually { (try? cluster.dogs(of: "store", on: "n1")) == ["7"] })
        try cluster.finish()
    }

    @Test func `the log of a realm is kept short, and a realm that nobody uses is closed all the same`() throws {
        let cluster = try TestCluster(["n1"]) { options in
            options.cluster.bases.records = 5
            options.cluster.bases.bytes = 1
            options.cluster.bases.bytesPerByte = 0
            options.cluster.bases.checkSeconds = 0.05
            options.idleSeconds = 1
        }
        try cluster.make("store", on: "n1")
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        defer { log.close() }
        for dog in 1...40 { #expect(try cluster.add(dog, to: "store", on: "n1").status == 201) }
        #expect(eventually { (try? cluster.metric("cluster_prunings_total", on: "n1")) != "0" })
        #expect(try log.bases(of: "store").count <= 3)
        let head = try LogReplay.head(of: "store", in: log)
        // An early base may have let only the first records go.
        #expect(
            eventually {
                var count = 0
                let isRead: Void? = try? log.records(of: "store", lineage: head.lineage, versions: 1...head.version) {
                    (_: [UInt8]) throws(StorageError) in count += 1
                }
                return isRead != nil && count < 40
            })
        #expect(eventually { (try? cluster.metric("cluster_owned_realms", on: "n1")) == "0" })
        #expect(eventually { (try? cluster.metric("realm_idle_closings_total", on: "n1")) == "1" })
        #expect(try cluster.add(41, to: "store", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "store", on: "n1").count == 41)
        #expect(try cluster.metric("cluster_base_failures_total", on: "n1") == "0")
        try cluster.finish()
    }

    @Test(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"))
    func `bases may be in a bucket`() throws {
        let bucket = try S3Server()
        let cluster = try TestCluster(["n1", "n2"]) { options in
            options.cluster.bases.records = 5
            options.cluster.bases.bytes = 1
            options.cluster.bases.checkSeconds = 0.05
            options.cluster.baseStore.target = BackupTarget("s3://backups/bases")
            options.cluster.baseStore.endpoint = "http://127.0.0.1:\(bucket.port)"
            options.environment = { ["AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"][$0] }
        }
        func files() throws -> Int {
            try HTTPClient.request(port: bucket.port, "GET", "/backups?list-type=2").text.components(separatedBy: ".base<").count
                - 1
        }
        try cluster.make("store", on: "n1")
        #expect(try files() == 1)
        for dog in 1...40 { #expect(try cluster.add(dog, to: "store", on: "n1").status == 201) }
        #expect(eventually { (try? cluster.metric("cluster_prunings_total", on: "n1")) != "0" })
        #expect(try cluster.metric("cluster_base_failures_total", on: "n1") == "0")
        #expect(eventually { (try? files()) == 2 })
        try cluster.move("store", to: "n2")
        #expect(try cluster.dogs(of: "store", on: "n2").count == 40)
        #expect(try cluster.metric("cluster_hydrations_total", on: "n2") == "1")
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        defer { log.close() }
        #expect(try log.bases(of: "store").allSatisfy { $0.file.hasPrefix("store/") })
        // Somebody who does not know the bucket says so.
        let head = try LogReplay.head(of: "store", in: log)
        let error = #expect(throws: StorageError.self) {
            try LogReplay("store", path: NSTemporaryDirectory() + "bases", log: log).restore(head.version, of: head)
        }
        #expect(error.map { "\($0)".contains("--bases") } == true, "\(String(describing: error))")
        #expect(try cluster.send("n2", "DELETE", "/v1/realms/store?files=true").status == 204)
        #expect(try files() == 0)
        try cluster.finish()
    }

    @Test(arguments: [("redirect", 307), ("accel", 421)])
    func `a request is handed over as the node was told`(_ form: String, _ status: Int) throws {
        let cluster = try TestCluster(["n1", "n2"]) { options in
            options.cluster.handOver = ClusterOptions.HandOver(rawValue: form) ?? .refuse
            options.cluster.replicas = .none
        }
        let answer = try cluster.send("n2", "GET", "/v1/realms/store/objects/Dog?where=id%3D1")
        #expect(answer.status == status && answer["Realm-Owner"] == "http://n1.example:8080")
        if form == "redirect" {
            #expect(answer["Location"] == "http://n1.example:8080/v1/realms/store/objects/Dog?where=id%3D1")
        } else {
            #expect(answer["X-Accel-Redirect"] == "@n1")
        }
        try cluster.finish()
    }

    @Test func `a second process with the name of a node does not start`() throws {
        let cluster = try TestCluster(["n1"])
        let error = #expect(throws: RealmServer.Failure.self) {
            try cluster.start("n1") { $0.dataFolder = NSTemporaryDirectory() }
        }
        #expect(error?.description.contains("another process is the node 'n1'") == true)
        try cluster.finish()
    }

    @Test func `a file of the data folder is not opened beside the log`() throws {
        let cluster = try TestCluster(["n1"])
        try cluster.make("store", on: "n1")
        let path = cluster.path("store", on: "n1")
        let error = #expect(throws: RealmServer.Failure.self) { try cluster.start("n1") { $0.paths = [path] } }
        #expect(error?.description.contains("the cluster manages the files of the folder") == true)
        try cluster.finish()
    }
}
