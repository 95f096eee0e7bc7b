// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmReplica
import RealmStorage
import RealmTestSupport
import Testing

/// Nodes that serve realms of other nodes for reading, over HTTP.
@Suite(.enabled(if: PostgresServer.isPresent), .serialized) struct ReplicaServerTests {
    private let dogs = "/v1/realms/store/objects/Dog"

    /// A cluster of two nodes, of which the first owns a realm with one dog.
    private func cluster(change: (inout ServerOptions) -> Void = { _ in }) throws -> TestCluster {
        let cluster = try TestCluster(["n1", "n2"], change: change)
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(1, to: "store", on: "n1").status == 201)
        return cluster
    }

    private func stream(_ id: String, of cluster: TestCluster) throws -> EventClient {
        let stream = try EventClient(port: try cluster.port(id), "/v1/realms/store/changes?class=Dog")
        for event in ["snapshot", "ready"] { _ = try stream.next(event) }
        return stream
    }

    /// The names in the list of realms, read in pages.
    private func names(on id: String, of cluster: TestCluster, pagesOf limit: Int) throws -> [String] {
        var names: [String] = []
        var rest: String? = ""
        while let after = rest {
            let page = try cluster.send(id, "GET", "/v1/realms?limit=\(limit)" + after).json
            names += page["items"]?.elements?.compactMap { $0["name"]?.text } ?? []
            rest = page["next"]?.text.map { "&after=" + $0 }
        }
        return names
    }

    @Test func `a node reads what another writes, and hands writes over`() throws {
        let cluster = try cluster()
        let read = try cluster.send("n2", "GET", dogs + "/1")
        #expect(read.status == 200 && read.json["name"]?.text == "Rex 1", "\(read.text)")
        #expect(read["Realm-Version"] == (try cluster.send("n1", "GET", dogs + "/1")["Realm-Version"]))
        let written = try cluster.add(2, to: "store", on: "n2")
        #expect(written.status == 421 && written["Realm-Owner"] == "http://n1.example:8080", "\(written.text)")
        let deleted = try cluster.send("n2", "DELETE", "/v1/realms/store")
        #expect(deleted.code == "not_owner", "\(deleted.text)")
        let inside = try cluster.send("n2", "GET", dogs + "/1", headers: [("Realm-Transaction", "abc")])
        #expect(inside.code == "not_owner", "\(inside.text)")
        let owner = try cluster.send("n1", "GET", "/v1/realms/store").json["cluster"]
        #expect(owner?["role"]?.text == "owner" && owner?["owner"]?.text == "n1")
        let replica = try cluster.send("n2", "GET", "/v1/realms/store").json["cluster"]
        #expect(replica?["role"]?.text == "replica" && replica?["owner"]?.text == "n1" && replica?["lagCommits"]?.int == 0)
        #expect(try cluster.send("n2", "GET", "/v1/cluster").json["followedRealms"]?.int == 1)
        #expect(try cluster.metric("cluster_followed_realms", on: "n2") == "1")
        // Each node lists the realms of all, whatever files it has.
        for name in ["a", "zoo"] { try cluster.make(name, on: "n1") }
        for id in ["n1", "n2"] {
            #expect(try names(on: id, of: cluster, pagesOf: 100) == ["a", "store", "zoo"])
            #expect(try names(on: id, of: cluster, pagesOf: 1) == ["a", "store", "zoo"])
        }
        // What nobody has is said to be missing, whoever is asked.
        for id in ["n1", "n2"] {
            for target in ["/v1/realms/nobody/objects/Dog", "/v1/realms/nobody"] {
                #expect(try cluster.send(id, "GET", target).code == "realm_not_found", "\(id) \(target)")
            }
        }
        try cluster.finish()
    }

    @Test func `a client reads its own write on another node`() throws {
        let cluster = try cluster { $0.limits.readSeconds = 2 }
        for dog in 2...20 {
            let version = try #require(try cluster.add(dog, to: "store", on: "n1")["Realm-Version"])
            let read = try cluster.send("n2", "GET", dogs + "/\(dog)", headers: [("Realm-Min-Version", version)])
            #expect(read.status == 200, "\(read.text)")
            let linear = try cluster.send("n2", "GET", dogs + "?count=exact", headers: [("Realm-Read", "linear")])
            #expect(linear.json["count"]?.int == dog, "\(linear.text)")
        }
        let version = try #require(try cluster.send("n1", "GET", dogs)["Realm-Version"])
        let epoch = version.prefix { $0 != "." }
        for future in ["\(epoch).999999", "other.1"] {
            let refused = try cluster.send("n2", "GET", dogs, headers: [("Realm-Min-Version", future)])
            #expect(refused.status == 412 && refused["Realm-Owner"] == "http://n1.example:8080", "\(refused.text)")
        }
        try cluster.finish()
    }

    @Test func `streams, leases and polls go on while a shard moves`() throws {
        let cluster = try cluster()
        let streams = [try stream("n1", of: cluster), try stream("n2", of: cluster)]
        let poll = try cluster.send("n1", "GET", "/v1/realms/store/changes?class=Dog&since=now")
        let position = try #require(poll.json["next"]?.text, "\(poll.text)")
        var dog = 1
        for owner in ["n1", "n2", "n1", "n2"] {
            try cluster.move("store", to: owner)
            dog += 1
            let added = try cluster.add(dog, to: "store", on: owner)
            #expect(added.status == 201, "\(added.text)")
            for stream in streams {
                let event = try stream.next("changes")
                #expect(event.id == added["Realm-Version"], "\(event)")
            }
        }
        #expect(try cluster.dogs(of: "store", on: "n1") == ["1", "2", "3", "4", "5"])
        // A position of one node is good for the others.
        for id in ["n1", "n2"] {
            let later = try cluster.send(id, "GET", "/v1/realms/store/changes?class=Dog&since=\(position)")
            #expect(later.json["changes"]?.elements?.count == 4 && later.json["reset"] == .null, "\(later.text)")
        }
        #expect(try cluster.metric("cluster_demotions_total", on: "n1") == "2")
        #expect(try cluster.metric("cluster_promotions_total", on: "n2") == "2")
        #expect(try cluster.metric("cluster_hydrations_total", on: "n2") == "1")
        #expect(try cluster.metric("realm_failures_total", on: "n1") == "0")
        try cluster.finish()
    }

    @Test func `streams go on when the realm was claimed by somebody else`() throws {
        let cluster = try cluster()
        let stream = try stream("n1", of: cluster)
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        defer { log.close() }
        let head = try LogReplay.head(of: "store", in: log)
        let call = LogCall(realm: "store", owner: LogOwner(node: "n2", token: "thief"), request: .claim(over: head.epoch))
        guard case .claimed = log.perform(call, until: .now().adding(seconds: 10)) else { return #expect(Bool(false)) }
        #expect(try cluster.add(2, to: "store", on: "n1").code == "not_owner")
        #expect(eventually { (try? cluster.add(2, to: "store", on: "n1").status) == 201 })
        _ = try stream.next("changes")
        #expect(try cluster.metric("realm_failures_total", on: "n1") == "0")
        try cluster.finish()
    }

    @Test func `a realm that is deleted or restored at its owner is so everywhere`() throws {
        let cluster = try cluster()
        let backup = try cluster.send("n1", "POST", "/v1/realms/store/backups")
        let id = try #require(backup.json["id"]?.text, "\(backup.text)")
        #expect(try cluster.add(2, to: "store", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1", "2"])
        #expect(try cluster.send("n1", "POST", "/v1/realms/store/restore", #"{"backup":"\#(id)"}"#).status == 200)
        #expect(eventually { (try? cluster.dogs(of: "store", on: "n2")) == ["1"] })
        #expect(try cluster.add(3, to: "store", on: "n1").status == 201)
        #expect(eventually { (try? cluster.dogs(of: "store", on: "n2")) == ["1", "3"] })
        #expect(try cluster.send("n1", "DELETE", "/v1/realms/store?files=true").status == 204)
        #expect(eventually { (try? cluster.send("n2", "GET", dogs).code) == "realm_not_found" })
        try cluster.make("store", on: "n1")
        #expect(try cluster.add(7, to: "store", on: "n1").status == 201)
        #expect(eventually { (try? cluster.dogs(of: "store", on: "n2")) == ["7"] })
        // A node that has a file of the realm that was deleted makes one of that name, too.
        #expect(try cluster.send("n1", "DELETE", "/v1/realms/store?files=true").status == 204)
        #expect(eventually { (try? cluster.send("n2", "GET", dogs).code) == "realm_not_found" })
        try cluster.move("store", to: "n2")
        try cluster.make("store", on: "n2")
        #expect(try cluster.add(8, to: "store", on: "n2").status == 201)
        #expect(eventually { (try? cluster.dogs(of: "store", on: "n1")) == ["8"] })
        try cluster.finish()
    }

    @Test func `a write on one node skips a registration on another`() throws {
        let cluster = try cluster()
        let body = #"{"subscriptions":{"dogs":{"class":"Dog"}}}"#
        let made = try cluster.send("n2", "POST", "/v1/realms/store/subscriptions", body)
        let id = try #require(made.json["id"]?.text, "\(made.text)")
        let stream = try EventClient(port: try cluster.port("n2"), try #require(made.json["url"]?.text))
        for event in ["snapshot", "ready"] { _ = try stream.next(event) }
        let written = try cluster.send(
            "n1", "POST", dogs, #"{"id":2,"name":"Skip"}"#, headers: [("Realm-Without-Notifying", id)])
        #expect(written.status == 201, "\(written.text)")
        let skipped = try stream.next("changes")
        #expect(skipped.data.contains(#""skipped":true"#), "\(skipped)")
        #expect(try cluster.add(3, to: "store", on: "n1").status == 201)
        let told = try stream.next("changes")
        #expect(!told.data.contains("skipped"), "\(told)")
        try cluster.finish()
    }

    @Test func `a replica that nobody uses is closed, and comes back`() throws {
        let cluster = try cluster { $0.idleSeconds = 1 }
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1"])
        #expect(eventually { (try? cluster.metric("cluster_followed_realms", on: "n2")) == "0" })
        #expect(try cluster.add(2, to: "store", on: "n1").status == 201)
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1", "2"])
        let stream = try stream("n2", of: cluster)
        // While it has a stream it stays open, and is followed after each attempt to close it.
        Threads.sleep(seconds: 3)
        #expect(try cluster.add(3, to: "store", on: "n1").status == 201)
        _ = try stream.next("changes")
        #expect(try cluster.metric("cluster_followed_realms", on: "n2") == "1")
        try cluster.finish()
    }

    @Test func `without the log a replica goes on to be read, and says how old it is`() throws {
        let cluster = try cluster()
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1"])
        cluster.log.stop()
        #expect(eventually { (try? cluster.send("n2", "GET", dogs))?["Realm-Lag"]?.hasPrefix("commits=0, seconds=") == true })
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1"])
        let linear = try cluster.send("n2", "GET", dogs, headers: [("Realm-Read", "linear")])
        #expect(linear.code == "log_unavailable", "\(linear.text)")
        try cluster.finish()
    }

    @Test func `a request that one node has carried out is not carried out by another`() throws {
        let cluster = try cluster()
        let key = [("Idempotency-Key", "once")]
        let body = #"{"id":2,"name":"Once"}"#
        let first = try cluster.send("n1", "POST", dogs, body, headers: key)
        #expect(first.status == 201, "\(first.text)")
        // The node itself repeats its answer.
        #expect(try cluster.send("n1", "POST", dogs, body, headers: key).status == 201)
        try cluster.move("store", to: "n2")
        #expect(try cluster.send("n2", "DELETE", dogs + "/2").status == 204)
        let again = try cluster.send("n2", "POST", dogs, body, headers: key)
        #expect(again.status == 204 && again["Idempotency-Replayed"] == "true", "\(again.text)")
        #expect(again["Realm-Version"] == first["Realm-Version"])
        #expect(try cluster.dogs(of: "store", on: "n2") == ["1"])
        let other = try cluster.send("n2", "POST", dogs, #"{"id":3,"name":"Other"}"#, headers: key)
        #expect(other.code == "idempotency_key_reused", "\(other.text)")
        #expect(try cluster.send("n2", "POST", dogs, body, headers: [("Idempotency-Key", "twice")]).status == 201)
        // A transaction that was committed under a key is committed once.
        let begun = try cluster.send("n2", "POST", "/v1/realms/store/transactions", "{}")
        let id = try #require(begun.json["id"]?.text, "\(begun.text)")
        let inside = try cluster.send("n2", "POST", dogs, #"{"id":4,"name":"In"}"#, headers: [("Realm-Transaction", id)])
        #expect(inside.status == 201, "\(inside.text)")
        let target = "/v1/realms/store/transactions/\(id)/commit"
        let committed = try cluster.send("n2", "POST", target, headers: [("Idempotency-Key", "thrice")])
        #expect(committed.status == 200, "\(committed.text)")
        try cluster.move("store", to: "n1")
        let known = try cluster.send("n1", "POST", target, headers: [("Idempotency-Key", "thrice")])
        #expect(known.status == 204 && known["Realm-Version"] == committed["Realm-Version"], "\(known.text)")
        try cluster.finish()
    }

    @Test func `a node that was replaced without noticing refuses what it finds in its old version`() throws {
        let cluster = try cluster()
        let log = PostgresLog(PostgresOptions(cluster.log.address))
        defer { log.close() }
        for (number, body) in [
            #"{"ops":[{"assert":{"class":"Dog","key":"1","where":"name == 'Rex 2'"}}]}"#,
            #"{"ops":[{"assert":{"class":"Dog","key":"1","where":"name == 'Rex 1'"}}]}"#,
            #"{"ops":[{"patch":{"class":"Dog","key":"9","body":{"name":"x"}}}]}"#,
        ].enumerated() {
            let head = try LogReplay.head(of: "store", in: log)
            let thief = LogOwner(node: "n2", token: "thief \(number)")
            let call = LogCall(realm: "store", owner: thief, request: .claim(over: head.epoch))
            guard case .claimed = log.perform(call, until: .now().adding(seconds: 10)) else { return #expect(Bool(false)) }
            let answer = try cluster.send("n1", "POST", "/v1/realms/store/batch", body)
            #expect(answer.code == "not_owner", "\(answer.text)")
            #expect(eventually { (try? cluster.add(100 + number, to: "store", on: "n1").status) == 201 })
        }
        // Its own node tells what it finds.
        let missing = try cluster.send(
            "n1", "POST", "/v1/realms/store/batch", #"{"ops":[{"patch":{"class":"Dog","key":"9","body":{}}}]}"#)
        #expect(missing.code == "object_not_found", "\(missing.text)")
        try cluster.finish()
    }
}
