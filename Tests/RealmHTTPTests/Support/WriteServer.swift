// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify

/// A server over a folder with one writable realm, `app`. Every realm in the folder is verified when it is finished with.
final class WriteServer: Sendable {
    let server: RealmServer
    let folder: String

    /// The classes of `app` unless a test brings others.
    static let classes = [
        ClassInput(
            "Dog", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("name", "string", optional: true), PropertyInput("age", "int"),
                PropertyInput("tags", "string", collection: "list"), PropertyInput("marks", "int", collection: "dictionary"),
                PropertyInput("any", "mixed"), PropertyInput("owner", "object", objectType: "Person"),
                PropertyInput("chip", "object", objectType: "Chip"), PropertyInput("ids", "int", collection: "set"),
                PropertyInput("notes", "string", collection: "list", optional: true),
                PropertyInput("chips", "object", collection: "list", objectType: "Chip"),
                PropertyInput("$odd", "string", optional: true),
            ]),
        ClassInput(
            "Person", primaryKey: "id",
            [
                PropertyInput("id", "string", optional: true),
                PropertyInput("dogs", "object", collection: "list", objectType: "Dog"),
                PropertyInput("friends", "object", collection: "set", objectType: "Person"),
                PropertyInput("pets", "object", collection: "dictionary", objectType: "Dog"),
            ]),
        ClassInput("Chip", type: "embedded", [PropertyInput("code", "string"), PropertyInput("size", "int", optional: true)]),
        ClassInput("Note", [PropertyInput("text", "string")]),
        ClassInput("Oid", primaryKey: "_id", [PropertyInput("_id", "objectId")]),
        ClassInput("Uid", primaryKey: "_id", [PropertyInput("_id", "uuid")]),
        ClassInput(
            "Value", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("flag", "bool", optional: true),
                PropertyInput("int", "int", optional: true),
                PropertyInput("float", "float", optional: true), PropertyInput("double", "double", optional: true),
                PropertyInput("decimal", "decimal128", optional: true), PropertyInput("date", "date", optional: true),
                PropertyInput("data", "data", optional: true), PropertyInput("oid", "objectId", optional: true),
                PropertyInput("uuid", "uuid", optional: true), PropertyInput("text", "string", optional: true),
                PropertyInput("mixed", "mixed"), PropertyInput("mixeds", "mixed", collection: "list"),
                PropertyInput("mixedSet", "mixed", collection: "set"),
                PropertyInput("map", "mixed", collection: "dictionary"),
            ]),
    ]

    init(
        _ classes: [ClassInput] = WriteServer.classes, opens: Bool = true, change: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let realm = try EngineRealm(path: folder + "/app.realm", classes)
        try realm.finish()
        var options = ServerOptions.forTests()
        options.dataFolder = folder
        // Tests attach files from elsewhere, too.
        options.attachRoots = [NSTemporaryDirectory()]
        change(&options)
        ListedProblems.watch()
        server = try RealmServer(options)
        try server.start()
        // Files of the data folder are opened by the first request; many tests look into this one before.
        if opens { _ = server.state.catalog.openNow("app") }
    }

    struct Damaged: Error, CustomStringConvertible {
        let description: String
    }

    /// Stops the server and verifies what it leaves.
    func finish() throws {
        server.stop()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".realm") {
            let report = try Snapshot(file: try RealmFile(path: folder + "/" + name)).verify()
            guard report.isClean else { throw Damaged(description: "\(name): \(report.errors)") }
        }
    }

    /// The bytes of `app.realm` as they are on disk.
    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder + "/app.realm")) }

    var port: Int { server.daemon.socket.port }

    static let json = ("Content-Type", "application/json")

    /// `path` is behind `/v1/realms/`. A body without a media type is JSON.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        let hasType = headers.contains { $0.0.lowercased() == "content-type" }
        return try HTTPClient.request(
            port: port, method, "/v1/realms/" + path, headers: headers + (body == nil || hasType ? [] : [WriteServer.json]),
            body: body.map { Array($0.utf8) })
    }

    func get(_ path: String, _ headers: [(String, String)] = []) throws -> HTTPClient.Answer {
        try send("GET", path, nil, headers)
    }

    /// The text of an object without `$meta`.
    func show(_ path: String) throws -> String { try get("app/objects/" + path + "?meta=none").text }

    /// Two dogs with an owner and a note.
    func fill() throws {
        let batch = """
            {"ops":[
            {"create":{"class":"Person","body":{"id":"ann"}}},
            {"create":{"class":"Dog","body":{"_id":1,"name":"Rex","age":3,"tags":["a","b"],"marks":{"art":1},"owner":"ann",
              "chip":{"code":"c1"},"ids":[1,2],"notes":["x",null],"any":[1,{"k":"v"}]}}},
            {"create":{"class":"Dog","body":{"_id":2,"age":5,"chips":[{"code":"d1"},{"code":"d2"}]}}},
            {"patch":{"class":"Person","key":"ann","body":{"dogs":[1,2],"pets":{"best":1}}}},
            {"create":{"class":"Note","body":{"text":"n"}}},
            {"create":{"class":"Value","body":{"_id":1}}}]}
            """
        try done("POST", "app/batch", batch)
    }
}

/// Looks into a file without a server.
enum RealmEngineReader {
    /// The age of the first dog.
    static func age(_ path: String) throws -> Int64? {
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        guard let table = snapshot.classTable(named: "Dog"), let row = try table.findByPrimaryKey(.int(1)),
            let column = table.column(named: "age"), case .int(let age) = try row.value(column)
        else { return nil }
        return age
    }
}
