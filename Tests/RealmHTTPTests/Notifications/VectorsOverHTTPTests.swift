// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

/// The conformance vectors once more, on a socket: in turn as `QUERY` of the objects of a class, as `POST …/query/{class}`, and in
/// the URL.
///
/// Left out is what HTTP cannot say: aliases (`mapping`), texts that are only parsed, bare object keys and null shapes.
@Suite("Vectors over HTTP", .serialized, .ownThread)
struct VectorsOverHTTPTests {
    /// One server for all groups, over all files of the vectors.
    private static let server: RealmServer? = {
        var options = ServerOptions.forTests()
        options.paths = [QueryVectors.folder.appendingPathComponent("realms").path]
        // The files are shared with whoever else runs tests, and never changed.
        options.isReadOnly = true
        // Some cases are longer than the text a server takes by default.
        options.limits.queryBytes = 1 << 20
        let server = try? RealmServer(options)
        try? server?.start()
        return server
    }()

    @Test(arguments: QueryVectors.groups)
    func `B19, B20, D14, D34: every case has the outcome of the reference engine`(_ group: String) throws {
        let server = try #require(Self.server)
        let client = try HTTPClient(port: server.daemon.socket.port)
        var failures: [String] = []
        var runCount = 0
        for suite in try QueryVectors(group: group).suites {
            for entry in suite.cases where Self.canBeSaid(entry) {
                runCount += 1
                if let failure = try Self.failure(of: entry, in: suite, client, turn: runCount) {
                    failures.append("\(entry.label)\n      \(failure)")
                }
            }
        }
        // In these groups nothing can be said over HTTP.
        #expect((runCount == 0) == ["keypath-mapping", "syntax"].contains(group))
        print("http \(group): \(runCount) cases, \(failures.count) failed")
        #expect(failures.isEmpty, "\(failures.count) of \(runCount) failed:\n\(failures.prefix(40).joined(separator: "\n"))")
    }

    private static func canBeSaid(_ entry: QueryVectors.Case) -> Bool {
        guard entry.json["mapping"] == nil, !entry.isParseOnly, !isReadByType(entry) else { return false }
        let text = "\(entry.arguments)"
        return !text.contains("\"$objkey\"") && !text.contains("\"$geo\"")
    }

    /// Whether the engine refuses a text that is passed for another type, which is read by that type over HTTP
    /// (`ArgumentRowTests`).
    private static func isReadByType(_ entry: QueryVectors.Case) -> Bool {
        guard entry.error == "invalid", entry.arguments.count == 1, let text = entry.arguments[0].text else { return false }
        return entry.query == "o == $0" && text.count == 24 || entry.query == "t == $0" && text == "1970-01-01"
    }

    /// - Parameter turn: Which of the three ways to ask is meant.
    private static func failure(
        of entry: QueryVectors.Case, in suite: QueryVectors.Suite, _ client: HTTPClient, turn: Int
    ) throws -> String? {
        let arguments = "[\(entry.arguments.map { argument($0, suite) }.joined(separator: ","))]"
        let realm = "/v1/realms/\(suite.realmName)"
        let className = ChangeServer.encode(entry.className)
        let answer: HTTPClient.Answer
        let query = "where=\(ChangeServer.encode(entry.query))&args=\(ChangeServer.encode(arguments))&count=exact&limit=1000"
        // What is too long for the head of a request is asked for in a body.
        if turn % 3 == 0, query.utf8.count < 4000 {
            answer = try client.request("GET", "\(realm)/objects/\(className)?\(query)")
        } else {
            let body = "{\"where\":\(ParsedJSON.quoted(entry.query)),\"args\":\(arguments),\"count\":\"exact\",\"limit\":1000}"
            let (method, target) = turn % 3 == 1 ? ("QUERY", "objects") : ("POST", "query")
            answer = try client.request(
                method, "\(realm)/\(target)/\(className)", headers: [("Content-Type", "application/json")],
                body: Array(body.utf8))
        }
        let document = try ParsedJSON(parsing: answer.body)
        if entry.error != nil {
            let code = document["code"]?.text ?? ""
            // A path that leads nowhere has a code of its own among what does not bind.
            let isRight =
                answer.status == 400 && (code == "invalid_query" || (code == "unknown_key_path" && entry.error == "invalid"))
            return isRight ? nil : "expected \(entry.error ?? ""), got \(answer.status) \(code)"
        }
        guard answer.status == 200 else { return "\(answer.status) \(answer.text)" }
        return mismatch(document, entry)
    }

    private static func mismatch(_ document: ParsedJSON, _ entry: QueryVectors.Case) -> String? {
        let count = entry.json["count"]?.integer
        guard document["count"]?.integer == count else {
            return "expected \(count ?? -1) objects, got \(document["count"]?.integer ?? -1)"
        }
        guard let expected = entry.json["keys"]?.elements ?? entry.json["matches"]?.elements else { return nil }
        let wanted = expected.map { keyText($0) }
        let found = (document["items"]?.elements ?? []).map { item -> String in
            let key = item["$meta"]?["key"]?.text ?? ""
            // Objects without a primary key are named by their object key in the vectors.
            return key.hasPrefix("@k") ? String(key.dropFirst(2)) : key
        }
        let agrees = entry.json["keys"] != nil ? wanted == found : wanted.sorted() == found.sorted()
        return agrees ? nil : "expected \(wanted), got \(found)"
    }

    private static func keyText(_ id: ParsedJSON) -> String {
        switch id {
        case .integer(let number): return String(number)
        case .string(let text): return text.isEmpty ? "@empty" : text.hasPrefix("@") ? "@" + text : text
        case .object: return id["$oid"]?.text ?? id["$uuid"]?.text ?? ""
        default: return "@null"
        }
    }

    // MARK: - Arguments on the wire

    private static func argument(_ value: ParsedJSON, _ suite: QueryVectors.Suite) -> String {
        guard case .object(let members) = value, let member = members.first else { return value.serialized }
        switch member.name {
        case "$float": return "{\"$numberFloat\":\(quotedNumber(member.value))}"
        case "$double": return "{\"$numberDouble\":\(quotedNumber(member.value))}"
        case "$decimal": return "{\"$numberDecimal\":\(member.value.serialized)}"
        case "$binary": return "{\"$binary\":{\"base64\":\(member.value.serialized),\"subType\":\"00\"}}"
        case "$date":
            let parts = member.value.elements?.compactMap(\.integer) ?? []
            return "{\"$instant\":{\"seconds\":\"\(parts[0])\",\"nanoseconds\":\(parts[1])}}"
        case "$list": return "[\((member.value.elements ?? []).map { element($0, suite) }.joined(separator: ","))]"
        case "$link":
            let parts = member.value.elements ?? []
            return
                "{\"$link\":{\"class\":\(parts[0].serialized),\"key\":\(ParsedJSON.quoted(linkKey(parts[0], parts[1], suite)))}}"
        default: return value.serialized
        }
    }

    /// An element of a list. Texts are sent as such: without a type they would be read by that of the other side, and be refused
    /// where the engine leaves them out (`ArgumentRowTests`).
    private static func element(_ value: ParsedJSON, _ suite: QueryVectors.Suite) -> String {
        guard let text = value.text else { return argument(value, suite) }
        return "{\"$bytes\":\"\(Data(text.utf8).base64EncodedString())\"}"
    }

    /// Objects of a class without primary key are named by their object key.
    private static func linkKey(_ className: ParsedJSON, _ id: ParsedJSON, _ suite: QueryVectors.Suite) -> String {
        let one = suite.json["classes"]?.elements?.first { $0["name"] == className }
        return one?["primaryKey"]?.text == nil ? "@k" + keyText(id) : keyText(id)
    }

    private static func quotedNumber(_ value: ParsedJSON) -> String {
        value.double == nil ? value.serialized : "\"\(value.serialized)\""
    }
}
