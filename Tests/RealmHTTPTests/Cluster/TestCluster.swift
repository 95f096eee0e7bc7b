// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmReplica
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Some nodes, each with a folder of its own, and the log that they share.
final class TestCluster {
    let log: PostgresServer
    let register: PostgresRegister
    var nodes: [String: RealmServer] = [:]
    private let root: URL
    /// The keys of encrypted realms, by name.
    var keys: [String: EncryptionKey] = [:]

    init(_ ids: [String], change: (inout ServerOptions) -> Void = { _ in }) throws {
        log = try PostgresServer()
        root = FileManager.default.temporaryDirectory.appendingPathComponent("rr-cluster-\(UUID().uuidString.prefix(8))")
        let options = PostgresOptions(log.address)
        register = PostgresRegister(options)
        let tables = PostgresLog(options)
        try tables.prepare()
        tables.close()
        for id in ids { try start(id, change) }
        // Everything is the first node's, unless a test moves it.
        try move(0..<Shard.count, to: ids[0])
    }

    func start(_ id: String, _ change: (inout ServerOptions) -> Void = { _ in }) throws {
        var options = ServerOptions.forTests()
        let folder = root.appendingPathComponent(id)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        options.dataFolder = folder.path
        options.cluster.address = log.address
        options.cluster.node = id
        options.cluster.url = "http://\(id).example:8080"
        change(&options)
        ListedProblems.watch()
        let server = try RealmServer(options)
        try server.start()
        nodes[id] = server
    }

    func move(_ shards: Range<Int>, to id: String) throws {
        _ = try register.assign(Array(shards), to: id, from: nil, ifSilentFor: nil)
        let isKnown = eventually { self.nodes.keys.allSatisfy { node in self.knows(node, that: id) } }
        #expect(isKnown)
    }

    /// Whether a node knows the number of shards that the register has for another.
    private func knows(_ node: String, that id: String) -> Bool {
        guard let document = try? send(node, "GET", "/v1/cluster").json, let map = try? register.map() else { return false }
        let count = map.owners.count { $0 == id }
        let entry = document["nodes"]?.elements?.first { $0["id"]?.text == id }
        return entry?["shards"]?.int == count
    }

    func move(_ realm: String, to id: String) throws {
        let shard = Shard.of(realm)
        try move(shard..<shard + 1, to: id)
    }

    func port(_ id: String) throws -> Int {
        guard let server = nodes[id] else { throw HTTPClient.Failure(description: "there is no node \(id)") }
        return server.daemon.socket.port
    }

    func send(
        _ id: String, _ method: String, _ target: String, _ body: String? = nil, headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        let type = body == nil ? [] : [("Content-Type", "application/json")]
        return try HTTPClient.request(
            port: try port(id), method, target, headers: type + headers, body: body.map { Array($0.utf8) })
    }

    func path(_ realm: String, on id: String) -> String { root.appendingPathComponent("\(id)/\(realm).realm").path }

    /// Makes a realm with dogs.
    func make(_ realm: String, on id: String, key: String? = nil) throws {
        let properties = #"[{"name":"id","type":"int"},{"name":"name","type":"string"}]"#
        let schema = #"{"classes":[{"name":"Dog","primaryKey":"id","properties":"# + properties + "}]}"
        let member = key.map { #","encryptionKey":"\#($0)""# } ?? ""
        let answer = try send(id, "POST", "/v1/realms", #"{"name":"\#(realm)"\#(member),"schema":\#(schema)}"#)
        #expect(answer.status == 201, "\(answer.text)")
    }

    func add(_ dog: Int, to realm: String, on id: String) throws -> HTTPClient.Answer {
        try send(id, "POST", "/v1/realms/\(realm)/objects/Dog", #"{"id":\#(dog),"name":"Rex \#(dog)"}"#)
    }

    func dogs(of realm: String, on id: String) throws -> [String] {
        let answer = try send(id, "GET", "/v1/realms/\(realm)/objects/Dog?fields=id")
        return (answer.json["items"]?.elements ?? []).compactMap { $0["id"]?.plainText }
    }

    func metric(_ name: String, on id: String) throws -> String? {
        let lines = try send(id, "GET", "/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix("realm_rest_\(name) ") }?.split(separator: " ").last.map(String.init)
    }

    /// Ends all nodes, and verifies the files that they leave.
    func finish() throws {
        for server in nodes.values { server.stop() }
        register.close()
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        for file in files where file.pathExtension == "realm" {
            let key = keys[file.deletingPathExtension().lastPathComponent]
            let report = try Snapshot(file: try RealmFile(path: file.path, key: key)).verify()
            #expect(report.isClean, "\(file.lastPathComponent): \(report.errors)")
        }
        try? FileManager.default.removeItem(at: root)
        log.stop()
    }
}
