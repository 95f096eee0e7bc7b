// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Every problem that a read can raise, each by the shortest request that does.
@Suite struct BadReadTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        var method = "GET"
        /// Behind `/v1/realms/`.
        let path: String
        var headers: [(String, String)] = []
        var body: String?
        let status: Int
        let code: String
        /// Extension members that have to be there.
        var members: [String: String] = [:]
        var testDescription: String { "\(method) \(path.prefix(80)) \(body?.prefix(80) ?? "") -> \(code)" }
    }

    private static let json = [("Content-Type", "application/json")]

    private static func query(_ body: String, _ status: Int, _ code: String, _ members: [String: String] = [:]) -> Bad {
        Bad(
            method: "QUERY", path: "links/objects/Person", headers: json, body: body, status: status, code: code, members: members
        )
    }

    static let parameters: [Bad] = [
        Bad(path: "links/objects/Person?limt=3", status: 400, code: "unknown_parameter", members: ["parameter": "limt"]),
        Bad(
            path: "links/objects/Person/73?where=id%3E1", status: 400, code: "unknown_parameter", members: ["parameter": "where"]),
        Bad(
            path: "links/objects/Person?limit=1001", status: 400, code: "invalid_parameter",
            members: ["limit": "1000", "parameter": "limit"]),
        Bad(path: "links/objects/Person?limit=-1", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?limit=+1", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?limit=", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?offset=-1", status: 400, code: "invalid_parameter", members: ["parameter": "offset"]),
        Bad(path: "links/objects/Person?count=yes", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?meta=some", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?explain=1", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?format=xml", status: 400, code: "invalid_parameter", members: ["parameter": "format"]),
        Bad(path: "links/objects/Person?args=3", status: 400, code: "invalid_parameter", members: ["parameter": "args"]),
        Bad(path: "links/objects/Person?args=[", status: 400, code: "invalid_parameter"),
        Bad(
            path: "links/objects/Person?args=[{%22$foo%22:1}]", status: 400, code: "invalid_parameter",
            members: ["pointer": "/args/0"]),
        Bad(path: "links/objects/Person?args=[{%22$date%22:5}]", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?args=[{%22$oid%22:%2200%22}]", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?sort=", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?sort=id,,name", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?at=39", status: 400, code: "invalid_parameter", members: ["parameter": "at"]),
        Bad(path: "links/objects/Person?at=-40", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?at=x", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?sectionBy=name:last", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?sectionBy=name:floor(2)", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person?expand=partner.partner.partner.partner", status: 400, code: "invalid_parameter"),
        Bad(path: "links/objects/Person/%ff", status: 400, code: "invalid_parameter", members: ["parameter": "key"]),
        Bad(path: "links/aggregate/Person?ops=mode:id", status: 400, code: "invalid_parameter", members: ["parameter": "ops"]),
        Bad(path: "links/schema?format=cobol", status: 400, code: "invalid_parameter"),
        Bad(
            path: "links/objects/Person", headers: [("Realm-Min-Version", "soon")], status: 400, code: "invalid_parameter",
            members: ["header": "Realm-Min-Version"]),
    ]

    static let conflicts: [Bad] = [
        Bad(path: "links/objects/Person?offset=1&after=x", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?sort=id&where=id%3E1%20SORT(id%20ASC)", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?distinct=id&where=id%3E1%20LIMIT(3)", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?after=x&where=id%3E1%20DISTINCT(id)", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?section=3", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?indexOf=3&at=1", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person?sectionBy=id&sort=name", status: 400, code: "conflicting_parameters"),
        Bad(path: "links/objects/Person/73/name?limit=3", status: 400, code: "conflicting_parameters"),
        Bad(
            method: "QUERY", path: "links/objects/Person?limit=3", headers: json, body: #"{"limit":4}"#, status: 400,
            code: "conflicting_parameters", members: ["parameter": "limit"]),
    ]

    static let queries: [Bad] = [
        Bad(
            path: "links/objects/Person?where=id%20%3E", status: 400, code: "invalid_query",
            members: ["position": "4", "parameter": "where"]),
        Bad(path: "links/objects/Person?where=", status: 400, code: "invalid_query"),
        Bad(path: "links/objects/Person?where=name%20%3E%203", status: 400, code: "invalid_query"),
        Bad(path: "links/objects/Person?where=id%20==%20$0", status: 400, code: "invalid_query"),
        Bad(
            path: "links/objects/Person?indexOfWhere=id", status: 400, code: "invalid_query",
            members: ["parameter": "indexOfWhere"]),
        Bad(path: "links/objects/Person?sort=dogs", status: 400, code: "invalid_query", members: ["parameter": "sort"]),
        Bad(path: "links/objects/Person?sort=id)%20LIMIT(1", status: 400, code: "invalid_query"),
        Bad(path: "links/objects/Person?where=idd%3E1", status: 400, code: "unknown_key_path", members: ["parameter": "where"]),
        Bad(path: "links/objects/Person?sort=-idd", status: 400, code: "unknown_key_path", members: ["parameter": "sort"]),
        Bad(path: "links/objects/Person?distinct=idd", status: 400, code: "unknown_key_path", members: ["parameter": "distinct"]),
        Bad(path: "links/objects/Person?fields=idd", status: 400, code: "unknown_key_path", members: ["parameter": "fields"]),
        Bad(path: "links/objects/Person?fields=name.x", status: 400, code: "unknown_key_path", members: ["parameter": "fields"]),
        Bad(path: "links/objects/Person?expand=idd", status: 400, code: "unknown_key_path", members: ["parameter": "expand"]),
        Bad(path: "links/objects/Person?sectionBy=idd", status: 400, code: "unknown_key_path"),
        Bad(path: "links/aggregate/Person?ops=min:idd", status: 400, code: "unknown_key_path", members: ["parameter": "ops"]),
        Bad(
            path: "links/objects/Person?args=[{%22$link%22:{%22class%22:%22X%22,%22key%22:%221%22}}]", status: 400,
            code: "unknown_key_path"),
        Bad(path: "links/objects/Person?after=b64.AAAA", status: 400, code: "cursor_invalid"),
        Bad(path: "links/objects/Person?after=", status: 400, code: "cursor_invalid"),
        Bad(path: "links/aggregate/Person?ops=sum:name", status: 422, code: "type_mismatch"),
    ]

    static let bodies: [Bad] = [
        query("", 400, "invalid_json"), query("{", 400, "invalid_json"), query("{} x", 400, "invalid_json"),
        query(#"{"where":"TRUEPREDICATE","where":"x"}"#, 400, "invalid_json"),
        query(#"{"args":["\ud800"]}"#, 400, "invalid_json"),
        query(
            #"{"args":"# + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}", 400, "invalid_json",
            ["limit": "64"]),
        query("[]", 400, "invalid_body"), query("3", 400, "invalid_body"),
        query(#"{"sort":"id"}"#, 400, "invalid_parameter", ["parameter": "sort"]),
        query(#"{"limit":"3"}"#, 400, "invalid_parameter"), query(#"{"limit":3.0}"#, 400, "invalid_parameter"),
        query(#"{"where":3}"#, 400, "invalid_parameter"),
        query(#"{"formt":"csv"}"#, 400, "unknown_parameter", ["parameter": "formt"]),
        query(#"{"format":"xml"}"#, 400, "invalid_parameter", ["parameter": "format"]),
        query(#"{"format":3}"#, 400, "invalid_parameter", ["parameter": "format"]),
        query(#"{"format":"csv","indexOf":3}"#, 406, "not_acceptable"),
        Bad(
            method: "QUERY", path: "links/objects/Person?format=json", headers: json, body: #"{"format":"csv"}"#, status: 400,
            code: "conflicting_parameters", members: ["parameter": "format"]),
        query(#"{"where":"id == $0","args":[12345678901234567890]}"#, 400, "invalid_parameter"),
        Bad(method: "QUERY", path: "links/objects/Person", body: "{}", status: 415, code: "unsupported_media_type"),
        Bad(
            method: "POST", path: "links/query/Person", headers: [("Content-Type", "text/plain")], body: "{}", status: 415,
            code: "unsupported_media_type"),
        Bad(
            method: "POST", path: "links/query/Person", headers: json + [("Content-Encoding", "br")], body: "{}", status: 415,
            code: "unsupported_media_type"),
        Bad(
            method: "POST", path: "links/query/Person", headers: json + [("Content-Encoding", "gzip")], body: "{}", status: 400,
            code: "invalid_body"),
        Bad(
            method: "POST", path: "links/query/Person", headers: json, body: String(repeating: " ", count: 5000), status: 413,
            code: "body_too_large", members: ["limit": "4000"]),
    ]

    static let others: [Bad] = [
        Bad(path: "links/objects/Persn", status: 404, code: "class_not_found"),
        Bad(path: "links/objects/metadata", status: 404, code: "class_not_found"),
        Bad(path: "links/schema/Persn", status: 404, code: "class_not_found"),
        Bad(path: "links/objects/Person/9999", status: 404, code: "object_not_found"),
        Bad(path: "links/objects/Person/abc", status: 404, code: "object_not_found"),
        Bad(path: "links/objects/Person/007", status: 404, code: "object_not_found"),
        Bad(path: "links/objects/Person/@null", status: 404, code: "object_not_found"),
        Bad(path: "links/objects/Person/@k99999", status: 404, code: "object_not_found"),
        Bad(path: "links/objects/Person/73/nme", status: 404, code: "not_found"),
        Bad(path: "links/objects/Person/73/@links/Dog/name", status: 404, code: "not_found"),
        Bad(path: "links/objects/Person?sectionBy=id&section=9999", status: 404, code: "section_not_found"),
        Bad(path: "links/objects/Person?snapshot=x", status: 404, code: "not_found"),
        Bad(path: "links/objects/Person", headers: [("Realm-Transaction", "x")], status: 404, code: "not_found"),
        Bad(path: "links/objects/Person", headers: [("Accept", "image/png")], status: 406, code: "not_acceptable"),
        Bad(path: "links/objects/Person/73?format=csv", status: 406, code: "not_acceptable"),
        Bad(path: "links/objects/Person?format=csv&indexOf=3", status: 406, code: "not_acceptable"),
        Bad(
            path: "links/objects/Person/73/name", headers: [("Accept", "application/octet-stream")], status: 406,
            code: "not_acceptable"),
        Bad(path: "links/objects/Person", headers: [("Realm-Min-Version", "other.1")], status: 412, code: "precondition_failed"),
        Bad(method: "PUT", path: "links/objects/Person/73", status: 405, code: "read_only"),
        Bad(method: "PUT", path: "links/objects/Person", status: 405, code: "method_not_allowed"),
        Bad(method: "QUERY", path: "links/objects/Person/73", status: 405, code: "method_not_allowed"),
        Bad(path: "big-keys/aggregate/Row?ops=sum:value", status: 422, code: "aggregate_overflow"),
    ]

    /// One server for all cases; reads do not change it.
    private static let server = Result { try TestServer(["links", "big-keys"]) { $0.limits.bodyBytes = 4000 } }

    @Test(arguments: parameters + conflicts + queries + bodies + others)
    func `a bad read has its status and code`(_ bad: Bad) throws {
        let server = try BadReadTests.server.get()
        let answer = try server.request(bad.method, "/v1/realms/" + bad.path, headers: bad.headers, body: bad.body)
        #expect(answer.status == bad.status, "\(answer.text)")
        #expect(answer.code == bad.code, "\(answer.text)")
        #expect(answer["Content-Type"] == "application/problem+json")
        for (name, value) in bad.members {
            let found = answer.json[name]?.plainText
            #expect(found == value, "\(name) in \(answer.text)")
        }
    }

    @Test func `every problem code is expected by a test`() throws {
        let folder = Fixtures.packageRoot.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let sources = try files.filter { $0.path.hasSuffix("Tests.swift") }.map { try Data(contentsOf: $0) }
        let words = Set(sources.flatMap { $0.split { !Self.isPartOfWord($0) } })
        let bare = Set(words.flatMap { $0.split { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ".") } })
        let missing = Set(ProblemCode.allCases).filter { code in
            !words.contains(Data("\"\(code.rawValue)\"".utf8)) && !words.contains(Data(".\(code)".utf8))
                && !(code.rawValue.contains("_") && bare.contains(Data(code.rawValue.utf8)))
        }
        #expect(missing == [])
    }

    /// Quotes and periods count, so that `"forbidden"` and `.forbidden` are words of their own.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return true
        default: return byte == UInt8(ascii: "_") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ".")
        }
    }

    @Test func `work past its deadline is 504`() throws {
        let server = try TestServer(["links"]) { $0.limits.readSeconds = 0 }
        for target in [
            "objects/Person?where=id%3E3", "objects/Person?sort=name", "objects/Person?sectionBy=id", "aggregate/Person",
        ] {
            let answer = try server.get("/v1/realms/links/" + target)
            #expect(answer.status == 504, "\(target)")
            #expect(answer.code == "deadline_exceeded")
        }
    }

    @Test func `damage met while reading is 500 and tells no details`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("realms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("links")))
        // Every node begins with the same four bytes; one node in each copy loses them.
        let nodes = stride(from: 24, to: whole.count, by: 8).filter {
            whole[$0..<$0 + 4].elementsEqual([0x41, 0x41, 0x41, 0x41])
        }
        for (number, offset) in nodes.enumerated() {
            var copy = whole
            copy.replaceSubrange(offset + 4..<offset + 8, with: [0xff, 0xff, 0xff, 0xff])
            try copy.write(to: folder.appendingPathComponent("v\(number).realm"))
        }
        let server = try TestServer([]) { $0.dataFolder = folder.path }
        var damaged = 0
        for number in nodes.indices {
            for target in [
                "objects/Person?sort=name", "objects/Dog", "objects/Person?format=ndjson", "aggregate/Person?ops=max:id",
            ] {
                let answer = try server.get("/v1/realms/v\(number)/\(target)")
                guard answer.status == 500 else {
                    // What is damaged so that it never opens says so, and is not served.
                    let isRefused = answer.status == 422 && answer.code == "file_corrupt"
                    #expect(answer.status == 200 || isRefused, "node \(number), \(target): \(answer.text)")
                    continue
                }
                damaged += 1
                #expect(answer.code == "file_corrupt")
                #expect(answer.json["detail"]?.text == "the file of this realm is damaged")
            }
        }
        // One whose free blocks cannot be counted used to make the whole list a 500.
        let list = try server.get("/v1/realms")
        #expect(list.status == 200 && list.json["items"]?.elements?.count == nodes.count, "\(list.text.prefix(300))")
        #expect(damaged > 0, "none of \(nodes.count) damaged nodes was met")
    }

    @Test func `a realm that cannot be opened is listed and unavailable`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("realms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("this is no realm, but long enough to look at".utf8).write(to: folder.appendingPathComponent("broken.realm"))
        let server = try TestServer(["links"]) { $0.dataFolder = folder.path }
        #expect(try server.get("/v1/realms/broken").json["state"]?.text == "closed")
        #expect(try server.get("/v1/realms/broken/schema").code == "not_a_realm")
        let document = try server.get("/v1/realms/broken")
        #expect(document.status == 200)
        #expect(document.json["state"]?.text == "failed")
        #expect(document.json["problem"]?["code"]?.text == "not_a_realm")
        let answer = try server.get("/v1/realms/broken/schema")
        #expect(answer.status == 422)
        #expect(answer.code == "not_a_realm")
        #expect(answer["Retry-After"] == nil)
        let ready = try server.get("/readyz")
        #expect(ready.code == "not_ready")
        #expect(ready.json["realms"]?.texts == ["broken"])
        #expect(throws: RealmServer.Failure.self) {
            try TestServer([]) { $0.paths = [folder.appendingPathComponent("broken.realm").path] }
        }
    }
}
