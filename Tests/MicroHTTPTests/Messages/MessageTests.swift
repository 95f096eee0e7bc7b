// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmAccess
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import Testing

@Suite struct MessageTests {
    @Test(
        arguments: [
            ("/", [""]), ("/a", ["a"]), ("/a/b", ["a", "b"]), ("/a/", ["a", ""]), ("/a//b", ["a", "", "b"]),
            ("/a%2Fb/c", ["a%2Fb", "c"]),
            ("/a/b?x=/y", ["a", "b"]), ("http://host:1/a/b", ["a", "b"]), ("*", []), ("", []),
        ] as [(String, [String])])
    func `splits the path before decoding it`(_ target: String, _ segments: [String]) {
        let target = RequestTarget(Array(target.utf8))
        let found = target.segments.indices.map { String(decoding: target.segment($0), as: UTF8.self) }
        #expect(found == segments || (found.isEmpty && segments == [""]))
    }

    @Test(
        arguments: [
            ("abc", "abc"), ("a%20b", "a b"), ("%C3%A9", "é"), ("a+b", "a+b"), ("%", nil), ("%2", nil), ("%zz", nil),
            ("%ff", nil),
            ("%ED%A0%80", nil), ("a%00b", "a\0b"),
        ] as [(String, String?)])
    func `decodes percent escapes strictly`(_ raw: String, _ decoded: String?) {
        #expect(PercentDecoding.decode(Array(raw.utf8)[...]) == decoded)
        if let decoded { #expect(PercentDecoding.decode(Array(PercentDecoding.encode(decoded).utf8)[...]) == decoded) }
    }

    @Test func `reads query parameters in order`() throws {
        let target = RequestTarget(Array("/x?where=age%20%3E+3&limit=5&empty&a=b=c&&".utf8))
        let parameters = try QueryParameters(target)
        #expect(parameters.items.map(\.name) == ["where", "limit", "empty", "a"])
        #expect(parameters["where"] == "age > 3")
        #expect(parameters["empty"] == "")
        #expect(parameters["a"] == "b=c")
    }

    @Test(arguments: ["a=1&a=2", "a=%", "%=1", "a=%ff"])
    func `refuses repeated and malformed parameters`(_ query: String) {
        let problem = #expect(throws: Problem.self) { try QueryParameters(RequestTarget(Array("/x?\(query)".utf8))) }
        #expect(problem?.code == .invalidParameter)
    }

    @Test func `names what a misspelt parameter may have meant`() {
        let problem = QueryParameters.unknown("limt", ["limit", "where"])
        #expect(problem.code == .unknownParameter)
        #expect(problem.detail.contains("'limit'"))
    }

    @Test func `weighs media ranges by how specific they are`() {
        let accept = AcceptHeader("text/*;q=0.3, text/csv;q=0.7, application/ejson; mode=relaxed, */*;q=0.5")
        #expect(accept.weight(of: "text/csv") == 0.7)
        #expect(accept.weight(of: "text/plain") == 0.3)
        #expect(accept.weight(of: "application/json") == 0.5)
        #expect(accept.best(for: "application/ejson")?.range.parameters["mode"] == "relaxed")
        #expect(AcceptHeader("application/json;q=0").weight(of: "application/json") == 0)
        #expect(AcceptHeader("nonsense").weight(of: "application/json") == 0)
    }

    @Test func `request ids are UUIDs of version 7, or the client's`() throws {
        let first = RequestID()
        let second = RequestID()
        #expect(first.text != second.text)
        #expect(first.text.count == 36)
        #expect(Array(first.text)[14] == "7")
        #expect("89ab".contains(Array(first.text)[19]))
        #expect(first.urn == "urn:uuid:" + first.text)
        #expect(try #require(RequestID(client: "a.b_c-9")).urn == "urn:realm-rest:request:a.b_c-9")
        for bad in ["", "a b", "é", String(repeating: "a", count: 129)] { #expect(RequestID(client: bad) == nil) }
    }

    @Test func `gzip packs, unpacks, and refuses bombs and nonsense`() throws {
        let buffer = OutputBuffer()
        for index in 0..<20_000 { buffer.append(decimal: Int64(index)) }
        let packed = try #require(Gzip.deflate(buffer)).array
        #expect(packed.count < buffer.count)
        #expect(try Gzip.inflate(packed, limit: buffer.count) == buffer.array)
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.inflate(packed, limit: buffer.count - 1) }
        #expect(throws: Gzip.Failure.malformed) { try Gzip.inflate(Array(packed.dropLast(9)), limit: 1 << 20) }
        #expect(throws: Gzip.Failure.malformed) { try Gzip.inflate([1, 2, 3], limit: 10) }
        #expect(throws: Gzip.Failure.malformed) { try Gzip.inflate([], limit: 10) }
    }

    @Test func `limits are set by name within their range`() throws {
        var limits = Limits()
        try limits.apply("page=7")
        try limits.apply("read-seconds=3")
        #expect(limits.page == 7)
        #expect(limits.readSeconds == 3)
        for bad in ["pages=7", "page", "page=", "page=x", "page=0", "heartbeat=4"] {
            #expect(throws: Limits.Rejection.self) { try limits.apply(bad) }
        }
    }

    @Test func `every problem code has a status and a title`() {
        for code in ProblemCode.allCases {
            #expect((400...507).contains(code.status), "\(code)")
            #expect(code.title.first?.isUppercase == true)
        }
        #expect(ProblemCode.invalidJSON.title == "Invalid JSON")
        #expect(ProblemCode.unknownProperty.title == "Unknown property")
    }
}
