// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// The first mistakes of newcomers, and what each is answered with: `Vectors/mistakes.txt` has them all, with the whole text.
@Suite struct MistakeTests {
    /// One mistake: a title, the request, and the expected code and detail.
    struct Row: Sendable {
        var title = ""
        var method = ""
        var target = ""
        var headers: [(String, String)] = []
        var body: String?
        var code = ""
        var detail = ""
    }

    /// The rows of the file. Each has a line with `#` and the title, one with method and target, lines with header fields and with the
    /// body after `>`, and a line with code and detail.
    static func rows() throws -> [Row] {
        let file = Fixtures.packageRoot.appendingPathComponent("Tests/RealmHTTPTests/Routes/Vectors/mistakes.txt")
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\n").compactMap(row)
    }

    private static func row(_ block: String) -> Row? {
        var row = Row()
        for line in block.split(separator: "\n") {
            if line.hasPrefix("# ") {
                row.title = String(line.dropFirst(2))
            } else if line.hasPrefix("> ") {
                row.body = (row.body.map { $0 + "\n" } ?? "") + line.dropFirst(2)
            } else if line.hasPrefix("= ") {
                let parts = line.dropFirst(2).split(separator: " ", maxSplits: 1)
                row.code = String(parts[0])
                row.detail = parts.count > 1 ? String(parts[1]) : ""
            } else if row.method.isEmpty {
                let parts = line.split(separator: " ", maxSplits: 1)
                row.method = String(parts[0])
                row.target = parts.count > 1 ? String(parts[1]) : ""
            } else if let colon = line.firstRange(of: ": ") {
                row.headers.append((String(line[..<colon.lowerBound]), String(line[colon.upperBound...])))
            }
        }
        return row.method.isEmpty ? nil : row
    }

    /// The target as it is sent: what a shell user writes is encoded, percent escapes stay.
    private static func encoded(_ target: String) -> String {
        let base = target.hasPrefix("/") ? target : "/v1/realms/store/" + target
        return base.utf8.map { byte in
            let isPlain = byte > 0x20 && byte < 0x7f && !"\"'<>\\^`{|}#[]".utf8.contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    @Test func `each mistake is answered with what to do`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 100)
        try withWriteServer([]) { server in
            let made = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json, ("Prefer", "respond-async")],
                body: Array(#"{"name":"store","sample":"store"}"#.utf8))
            try #require(made.status == 202, "\(made.text)")
            // A debug build on a busy machine takes its time to make the sample.
            let isReady = try eventually(seconds: 600) { try server.get("store/objects/Product?limit=1").status == 200 }
            try #require(isReady)
            for row in rows {
                let answer = try HTTPClient.request(
                    port: server.port, row.method, Self.encoded(row.target), headers: row.headers,
                    body: row.body.map { Array($0.utf8) })
                if row.code == "plan" {
                    #expect(answer.text.contains(row.detail), "\(row.title): \(answer.text)")
                    continue
                }
                #expect(answer.code == row.code, "\(row.title): \(answer.text)")
                #expect(answer.json["detail"]?.text == row.detail, "\(row.title)")
            }
        }
    }

    @Test func `the name of a file that is there is answered with how it is attached`() throws {
        try withWriteServer { server in
            #expect(try server.send("DELETE", "app").status == 204)
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(#"{"name":"app"}"#.utf8))
            let detail = try #require(answer.json["detail"]?.text)
            #expect(answer.code == "file_exists" && detail.hasSuffix("serves it"))
            let body = try #require(detail.firstRange(of: "{").map { detail[$0.lowerBound...].dropLast(" serves it".count) })
            let again = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(body.utf8))
            #expect(again.status == 201, "\(again.text)")
        }
    }

    @Test func `names of a mebibyte are quoted briefly`() throws {
        try withWriteServer { server in
            let long = String(repeating: "n", count: 1 << 20)
            for (path, body) in [
                ("app/objects/Dog", "{\"\(long)\":1}"), ("app/batch", "{\"\(long)\":1}"),
                ("app/batch", "{\"ops\":[{\"\(long)\":{}}]}"),
                ("app/batch", "{\"ops\":[{\"create\":{\"class\":\"\(long)\",\"body\":{}}}]}"),
                ("app/subscriptions", "{\"\(long)\":1}"), ("", "{\"\(long)\":1}"),
            ] {
                let answer = try HTTPClient.request(
                    port: server.port, "POST", path.isEmpty ? "/v1/realms" : "/v1/realms/" + path, headers: [WriteServer.json],
                    body: Array(body.utf8))
                #expect(
                    answer.status >= 400 && (answer.json["detail"]?.text?.utf8.count ?? 0) < 1000,
                    "\(path): \(answer.text.prefix(300))")
            }
        }
    }

    @Test func `the paths of an embedded class are only read`() throws {
        try withWriteServer { server in
            for (path, allow) in [
                ("app/objects/Chip", "GET, HEAD, QUERY, OPTIONS"), ("app/objects/Chip/@k0", "GET, HEAD, OPTIONS"),
            ] {
                let answer = try server.send("OPTIONS", path)
                #expect(answer["Allow"] == allow, "\(path)")
            }
            #expect(try server.send("OPTIONS", "app/objects/Dog")["Allow"]?.contains("POST") == true)
        }
    }
}
