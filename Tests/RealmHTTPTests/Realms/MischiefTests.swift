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
import Testing

/// Every kind of thing that may stand at a path, asked for in every way: what is answered, and that nothing changes but
/// what has to. What is refused leaves no trace at all; what is done touches nothing beside the file.
@Suite struct MischiefTests {
    /// A way to ask for a file.
    struct Way: Sendable {
        let name: String
        /// Members beside name and path.
        var members = ""
        var query = ""
        var seeds = false
        /// What is answered for a sound file.
        var expected: (status: Int, code: String?) = (201, nil)
        /// Whether the file has to be one that is written to.
        var writes = false
        /// Whether a private copy is enough.
        var copies = false
        var isAsynchronous = false
    }

    private static let ways: [Way] = [
        Way(name: "attach"),
        Way(name: "attach, dry", query: "?dryRun=true"),
        Way(name: "rw", members: #","mode":"rw""#, writes: true),
        Way(name: "rw, dry", members: #","mode":"rw""#, query: "?dryRun=true", writes: true),
        Way(name: "ro", members: #","mode":"ro""#),
        Way(name: "ro, dry", members: #","mode":"ro""#, query: "?dryRun=true"),
        Way(name: "copy", members: #","mode":"copy""#, copies: true),
        Way(name: "copy, dry", members: #","mode":"copy""#, query: "?dryRun=true", copies: true),
        Way(
            name: "wrong version", members: #","mode":"rw","schemaVersion":77"#, expected: (409, "schema_version_conflict"),
            writes: true),
        Way(
            name: "wrong version, dry", members: #","mode":"rw","schemaVersion":77"#, query: "?dryRun=true",
            expected: (409, "schema_version_conflict"), writes: true),
        Way(
            name: "steps that fail",
            members:
                #","mode":"rw","schemaVersion":78,"migrations":[{"addClass":{"name":"New","properties":[]}},{"removeClass":{"name":"Nope"}}]"#,
            expected: (422, "invalid_schema"), writes: true),
        Way(
            name: "a key that is wrong", members: #","encryptionKey":"\#(String(repeating: "ab", count: 64))""#,
            expected: (422, "encryption_key_wrong")),
        Way(name: "seed", seeds: true, copies: true),
        Way(name: "seed, dry", query: "?dryRun=true", seeds: true, copies: true),
        Way(
            name: "seed with a wrong version", members: #","schemaVersion":77"#, seeds: true,
            expected: (409, "schema_version_conflict"), copies: true),
        Way(name: "attach later", isAsynchronous: true),
    ]

    @Test(arguments: MischiefTarget.all)
    func `whatever stands at a path, only what may be changed is changed`(_ target: MischiefTarget) throws {
        let folders = try MischiefFolders()
        defer { folders.remove() }
        try target.make(folders)
        var options = ServerOptions()
        options.port = 0
        options.logFormat = nil
        options.graceSeconds = 0
        options.dataFolder = folders.data
        options.attachRoots = [folders.root]
        ListedProblems.watch()
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop() }
        let row = MischiefRow(target, folders, server.daemon.socket.port)
        for way in MischiefTests.ways { try row.run(way) }
        // And once more from the beginning: nothing of all that stays in the way.
        try row.run(MischiefTests.ways[0])
    }

    @Test func `there are at least 200 kinds of mischief`() {
        #expect(MischiefTarget.all.count * MischiefTests.ways.count >= 200)
    }
}

/// One target in the hands of a server.
private struct MischiefRow {
    private let target: MischiefTarget
    private let folders: MischiefFolders
    private let port: Int

    init(_ target: MischiefTarget, _ folders: MischiefFolders, _ port: Int) {
        self.target = target
        self.folders = folders
        self.port = port
    }

    private var path: String { target.path?(folders) ?? folders.target }

    func run(_ way: MischiefTests.Way) throws {
        let before = TreeDigest(folders.base)
        let answer = try ask(way)
        let outcome = expected(way)
        let text = "\(target.name), \(way.name): \(answer.status) \(answer.text)"
        let isDry = !way.query.isEmpty
        if way.isAsynchronous, answer.status == 202 {
            try settle(way, outcome, text)
        } else {
            #expect(answer.status == (isDry && outcome.status == 201 ? 200 : outcome.status), "\(text)")
            #expect(answer.code == outcome.code, "\(text)")
        }
        let isDone = outcome.status == 201 && !isDry
        if isDone { try letGo(way, text) }
        let changes = TreeDigest(folders.base).differences(from: before, ignoring: isDone ? allowed(way) : [])
        #expect(changes.isEmpty, "\(target.name), \(way.name) changed \(changes)")
    }

    /// A realm that is opened in the background comes to the same end.
    private func settle(_ way: MischiefTests.Way, _ outcome: (status: Int, code: String?), _ text: String) throws {
        var document: ParsedJSON = .null
        #expect(
            try eventually {
                document = try HTTPClient.request(port: port, "GET", "/v1/realms/x").json
                return document["state"]?.text != "opening"
            })
        #expect(document["state"]?.text == (outcome.status == 201 ? "ready" : "failed"), "\(text)")
        if outcome.status != 201 {
            #expect(document["problem"]?["code"]?.text == outcome.code, "\(text)")
            #expect(try HTTPClient.request(port: port, "GET", "/readyz").status == 200, "\(text)")
            #expect(try HTTPClient.request(port: port, "DELETE", "/v1/realms/x").status == 204, "\(text)")
        }
    }

    private func ask(_ way: MischiefTests.Way) throws -> HTTPClient.Answer {
        let member = way.seeds ? "seed" : "path"
        let body = #"{"name":"x","\#(member)":\#(ParsedJSON.quoted(path))\#(way.members)}"#
        let headers = [WriteServer.json] + (way.isAsynchronous ? WriteServer.later : [])
        return try HTTPClient.request(port: port, "POST", "/v1/realms" + way.query, headers: headers, body: Array(body.utf8))
    }

    private func expected(_ way: MischiefTests.Way) -> (status: Int, code: String?) {
        if let refusal = target.refusal {
            // A key is wrong for what may be encrypted, and for a plain realm; what is no realm is none with a key either.
            guard way.name == "a key that is wrong", refusal.status == 422, refusal.code != "filesystem_unsuitable" else {
                return (refusal.status, refusal.code)
            }
            return (422, refusal.code == "not_a_realm" ? "not_a_realm" : "encryption_key_wrong")
        }
        if let only = target.onlyRead, way.writes { return (only.status, only.code) }
        // A new file is one that is written to; of an older format there is no such.
        if let only = target.onlyRead, only.code == "file_format_unsupported", way.seeds { return (only.status, only.code) }
        return way.expected
    }

    private func letGo(_ way: MischiefTests.Way, _ text: String) throws {
        // What was attached from elsewhere is nobody's to delete here; what was made of a seed is.
        let files = try HTTPClient.request(port: port, "DELETE", "/v1/realms/x?files=true")
        if way.seeds {
            #expect(files.status == 204, "\(text): \(files.text)")
        } else {
            #expect(files.status == 409 && files.code == "not_owned", "\(text): \(files.text)")
            #expect(try HTTPClient.request(port: port, "GET", "/v1/realms/x").status == 200)
            #expect(try HTTPClient.request(port: port, "DELETE", "/v1/realms/x").status == 204)
        }
    }

    /// What may differ after the realm was served: the lock file, and the times of the folder that it is in.
    private func allowed(_ way: MischiefTests.Way) -> Set<String> {
        if way.seeds { return ["data", "data/x.realm.lock"] }
        guard target.onlyRead == nil, !way.copies, !way.name.hasPrefix("ro") else { return [] }
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let below = String(place.dropFirst(folders.base.count + 1))
        return [
            below, below + ".lock",
            String(below.prefix(below.lastIndex(of: "/").map { below.distance(from: below.startIndex, to: $0) } ?? 0)),
        ]
    }
}
