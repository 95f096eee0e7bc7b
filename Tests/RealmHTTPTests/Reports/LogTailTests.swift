// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// The last lines of the log, as administrators see them.
@Suite struct LogTailTests {
    @Test func `lines are numbered, and a client that knows one gets what follows`() {
        var tail = LogTail()
        #expect(tail.lines(after: nil, limit: 5).isEmpty && tail.lastNumber == 0)
        tail.append(Array("a\nb\n".utf8))
        tail.append(Array("\nd\n".utf8))
        #expect(tail.lines(after: nil, limit: 9).map(\.text) == ["a", "b", "", "d"])
        #expect(tail.lines(after: nil, limit: 2).map(\.number) == [3, 4])
        #expect(tail.lines(after: 2, limit: 1).map(\.number) == [3])
        #expect(tail.lines(after: 4, limit: 9).isEmpty && tail.lines(after: 99, limit: 9).isEmpty)
        #expect(tail.lines(after: 0, limit: 9).count == 4)
    }

    @Test func `memory is bounded, and numbers go on`() {
        var tail = LogTail()
        for number in 1...40_000 { tail.append(Array("line \(number) of the log\n".utf8)) }
        let kept = (0..<40).reduce(into: [LogTail.Line]()) { lines, _ in
            lines += tail.lines(after: lines.last?.number ?? 0, limit: LogTail.lineLimit)
        }
        #expect(tail.lastNumber == 40_000 && kept.last?.number == 40_000)
        #expect(kept.allSatisfy { $0.text == "line \($0.number) of the log" })
        let byteCount = kept.reduce(0) { $0 + $1.text.utf8.count + 1 }
        #expect(byteCount >= LogTail.byteLimit - 100 && byteCount <= 2 * LogTail.byteLimit)
        tail.append(Array(repeating: UInt8(ascii: "x"), count: 3 * LogTail.byteLimit) + [10])
        #expect(tail.lines(after: nil, limit: 9).isEmpty)
        tail.append(Array("next\n".utf8))
        #expect(tail.lines(after: nil, limit: 9).map(\.number) == [40_002])
    }

    @Test func `administrators read the log, as text or with numbers`() throws {
        let server = try TestServer(["links"]) { $0.logFormat = .json }
        _ = try server.get("/v1/realms", headers: [("X-Request-Id", "first-one")])
        var text = ""
        for _ in 0..<100 where !text.contains("first-one") {
            usleep(10_000)
            text = try server.get("/admin/log").text
        }
        #expect(text.contains("first-one") && text.hasSuffix("\n"))
        let json = [("Accept", "application/json")]
        let page = try server.get("/admin/log?limit=1000", headers: json)
        let items = try #require(page.json["items"]?.elements)
        #expect(items.contains { $0["line"]?.text?.contains("first-one") == true })
        let next = try #require(page.json["next"]?.int)
        #expect(items.last?["number"]?.int == next)
        let later = try server.get("/admin/log?since=\(next)", headers: json)
        #expect(later.json["items"]?.elements?.allSatisfy { ($0["number"]?.int ?? 0) > next } == true)
        #expect(page["Cache-Control"] == "no-store")
        for query in ["limit=0", "limit=1001", "since=-1", "since=x"] {
            #expect(try server.get("/admin/log?" + query).code == "invalid_parameter")
        }
        #expect(try server.get("/admin/log?tail=1").code == "unknown_parameter")
        #expect(try server.get("/admin/log", headers: [("Accept", "image/png")]).status == 406)
    }

    @Test func `a server without a log has no last lines`() throws {
        #expect(try TestServer(["links"]).get("/admin/log").code == "not_found")
    }
}
