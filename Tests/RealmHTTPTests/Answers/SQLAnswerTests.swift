// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Statements of SQL over HTTP: forms of requests and responses, and errors.
@Suite struct SQLAnswerTests {
    private static let server = Result { try TestServer(["store"]) }

    private func post(_ body: String, _ headers: [(String, String)] = []) throws -> HTTPClient.Answer {
        try Self.server.get().request(
            "POST", "/v1/realms/store/sql", headers: [("Content-Type", "application/json")] + headers, body: body)
    }

    @Test func `a document has columns, rows and the version`() throws {
        let answer = try post(
            #"{"sql":"SELECT name, count(*) AS n FROM Category WHERE name IS NOT ? GROUP BY 1 ORDER BY 1 LIMIT 1","args":["x"]}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(
            answer.text.hasPrefix(#"{"columns":[{"name":"name","type":"TEXT"},{"name":"n","type":null}],"rows":[[""#),
            "\(answer.text)")
        #expect(answer.text.hasSuffix("],\"version\":\"\(answer["Realm-Version"] ?? "none")\"}"), "\(answer.text)")
    }

    @Test func `GET, QUERY and POST are one operation`() throws {
        let server = try Self.server.get()
        let body = #"{"sql":"SELECT 1 AS a, 'x' AS a"}"#
        let expected = try post(body)
        let queried = try server.request(
            "QUERY", "/v1/realms/store/sql", headers: [("Content-Type", "application/json")], body: body)
        let got = try server.get("/v1/realms/store/sql?sql=SELECT%201%20AS%20a,%20'x'%20AS%20a")
        #expect(expected.status == 200 && queried.text == expected.text && got.text == expected.text)
    }

    @Test func `lines are objects whose members differ, and CSV has a header`() throws {
        let sql = #"{"sql":"SELECT 1 AS a, 'x,y' AS a, NULL AS b, x'00ff' AS c"}"#
        let lines = try post(sql, [("Accept", "application/x-ndjson")])
        #expect(lines.text == "{\"a\":1,\"a_2\":\"x,y\",\"b\":null,\"c\":\"AP8=\"}\n", "\(lines.text)")
        let table = try post(sql, [("Accept", "text/csv")])
        #expect(table.text == "a,a,b,c\r\n1,\"x,y\",,AP8=\r\n", "\(table.text)")
        #expect(table["Content-Type"]?.hasPrefix("text/csv") == true)
    }

    @Test func `a long result is a stream`() throws {
        let sql =
            "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 200000) SELECT x, 'abcdefgh' AS y FROM t"
        let answer = try post(#"{"sql":"\#(sql)","format":"ndjson"}"#)
        #expect(answer.status == 200 && answer.text.split(separator: "\n").count == 200_000)
        #expect(answer.text.hasSuffix("{\"x\":200000,\"y\":\"abcdefgh\"}\n"))
    }

    @Test func `an explanation names the plan of each table`() throws {
        let answer = try post(#"{"sql":"SELECT * FROM Product WHERE name LIKE 'a%'","explain":true}"#)
        #expect(
            answer.text.contains("SCAN Product VIRTUAL TABLE INDEX") && answer.text.contains("search: name LIKE ?"),
            "\(answer.text)")
    }

    @Test func `errors are problems that name the parameter and the place`() throws {
        let wrong = try post(#"{"sql":"SELECT absent FROM Product"}"#)
        #expect(wrong.status == 400 && wrong.code == "invalid_query" && wrong.text.contains("\"position\":7"), "\(wrong.text)")
        #expect(try post(#"{"sql":"DELETE FROM Product"}"#).code == "invalid_query")
        #expect(try post(#"{"sql":"SELECT ?"}"#).code == "invalid_parameter")
        #expect(try post(#"{"args":[]}"#).code == "invalid_parameter")
        #expect(try post(#"{"sql":"SELECT 1","where":"x"}"#).code == "unknown_parameter")
        #expect(try post(#"{"sql":"SELECT 1","args":[[1]]}"#).code == "invalid_parameter")
        #expect(try post(#"{"sql":"SELECT 1"}"#, [("Accept", "image/png")]).status == 406)
    }

    @Test func `a snapshot is read as it was, and a transaction as it is`() throws {
        let server = try WriteServer()
        try server.fill()
        let held = try server.send("POST", "app/snapshots", "{}")
        let id = try #require(
            held.text.split(separator: "\"id\":\"").dropFirst().first?.split(separator: "\"").first, "\(held.text)")
        let count = "app/sql?sql=SELECT%20count(*)%20FROM%20Dog"
        let before = try server.get(count).text.split(separator: "]]")[0]
        _ = try server.send("DELETE", "app/objects/Dog?where=TRUEPREDICATE", nil)
        #expect(try server.get(count).text.contains("[[0]]"))
        #expect(try server.get(count + "&snapshot=\(id)").text.hasPrefix(before))
        try server.finish()
    }
}
