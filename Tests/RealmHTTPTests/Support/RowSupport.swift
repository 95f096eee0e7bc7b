// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Runs a test against a server with the usual objects, or with classes of the test's own, and verifies what it leaves.
func withWriteServer(
    _ classes: [ClassInput]? = nil, change: (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer) throws -> Void
) throws {
    let server = try WriteServer(classes ?? WriteServer.classes, change: change)
    do {
        if classes == nil { try server.fill() }
        try body(server)
    } catch {
        server.server.stop()
        throw error
    }
    try server.finish()
}

extension WriteServer {
    static let later = [("Prefer", "respond-async")]
    static let jsonPatch = [("Content-Type", "application/json-patch+json")]

    /// A realm as the engine sees it.
    func database(_ name: String = "app") throws -> Database {
        guard case .ready(let database)? = server.state.catalog[name] else {
            throw Damaged(description: "\(name) is not open")
        }
        return database
    }

    /// Sends something that has to succeed. Where a test makes clocks run fast a busy machine may need a second attempt; what was
    /// late has left no trace.
    @discardableResult
    func done(_ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []) throws
        -> HTTPClient.Answer
    {
        var answer = try send(method, path, body, headers)
        for _ in 0..<10 where [408, 504].contains(answer.status) { answer = try send(method, path, body, headers) }
        guard answer.status < 300 else {
            // Answers do not say why a realm is not open.
            let state = server.state.catalog["app"].map { "\($0)" } ?? "none"
            throw Damaged(description: "\(method) \(path): \(answer.text) (app: \(state.prefix(300)))")
        }
        return answer
    }

    /// One operation of a batch.
    func batch(_ operations: String..., headers: [(String, String)] = []) throws -> HTTPClient.Answer {
        try send("POST", "app/batch", #"{"ops":[\#(operations.joined(separator: ","))]}"#, headers)
    }

    /// Creates or attaches a realm.
    func attach(_ body: String, _ query: String = "") throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: port, "POST", "/v1/realms" + query, headers: [WriteServer.json], body: Array(body.utf8))
    }

    /// A member of an object as JSON, as a read of the property shows it.
    func value(_ path: String) throws -> String {
        let text = try get("app/objects/" + path).text
        guard let end = text.range(of: #","version":""#, options: .backwards), text.hasPrefix(#"{"value":"#) else { return text }
        return String(text[text.index(text.startIndex, offsetBy: 9)..<end.lowerBound])
    }

    func count(_ className: String) throws -> Int? {
        try get("app/objects/\(className)?count=exact&limit=0").json["count"]?.int
    }

    func version() throws -> Int { WriteServer.number(try get("app")["Realm-Version"]) }

    // MARK: - Writes that are answered early

    /// Hands a write in; the path under which its fate is told.
    func begin(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
        let answer = try send(method, path, body, WriteServer.later)
        guard answer.status == 202, let location = answer["Location"] else { throw Damaged(description: answer.text) }
        return String(location.dropFirst("/v1/realms/".count))
    }

    func state(_ path: String) throws -> String? { try get(path).json["state"]?.text }

    /// What became of a write, once it is over.
    func fate(_ path: String) throws -> ParsedJSON {
        var document: ParsedJSON = .null
        _ = try eventually {
            document = try get(path).json
            return !["queued", "running"].contains(document["state"]?.text ?? "")
        }
        return document
    }
}

/// What a test waited for did not come.
struct TookTooLong: Error {}

/// A write that holds the writer of a database for as long as a test wants.
final class WriterGate: Sendable {
    private let monitor = Monitor((isHeld: false, isOpen: false))

    /// Queues behind the writes that wait.
    init(_ database: Database) {
        database.write(
            EngineRealm.request(seconds: 60),
            { [monitor] _ in
                monitor.broadcast { $0.isHeld = true }
                _ = monitor.wait(until: .now().adding(seconds: 60)) { $0.isOpen ? true : nil }
            }, completion: { _ in })
    }

    /// Returns when the writer is at the gate.
    func waitUntilHeld() throws {
        guard monitor.wait(until: .now().adding(seconds: 60), { $0.isHeld ? true : nil }) == true else { throw TookTooLong() }
    }

    func open() { monitor.broadcast { $0.isOpen = true } }
}

/// Remembers what commits did, and lets go of their versions.
final class CommitRecorder: Sendable {
    private let summaries = Mutex<[ChangeSummary]>([])
    private let properties = Mutex<[String]>([])
    private let database: Database
    private let token = Mutex<Int>(0)

    init(_ database: Database) {
        self.database = database
        let number = database.commits.add { [weak self] commit in self?.take(commit) }
        token.withLock { $0 = number }
    }

    deinit { database.commits.remove(token.withLock { $0 }) }

    private func take(_ commit: Commit) {
        summaries.withLock { $0.append(commit.summary) }
        let lines = (try? CommitRecorder.describe(commit)) ?? ["unreadable"]
        properties.withLock { $0 += lines }
    }

    /// What was changed, a line for each property: `Dog.age: 3 -> 4`.
    private static func describe(_ commit: Commit) throws -> [String] {
        var lines: [String] = []
        for (key, changes) in commit.summary.tables {
            guard let table = commit.version.snapshot.table(key), let before = commit.previous.snapshot.table(key) else {
                continue
            }
            for (object, columns) in changes.modified {
                for column in table.columns where columns.contains(column.key) {
                    let name = "\(table.className ?? "").\(column.name)"
                    guard column.collection == nil, let old = try before.find(object), let new = try table.find(object) else {
                        lines.append(name)
                        continue
                    }
                    lines.append("\(name): \(text(try old.value(column))) -> \(text(try new.value(column)))")
                }
            }
        }
        return lines.sorted()
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: return "null"
        case .int(let number): return "\(number)"
        case .string(let bytes): return bytes.string
        case .link: return "link"
        default: return "other"
        }
    }

    var commitCount: Int { summaries.withLock { $0.count } }

    /// The last commit's changes of a class.
    func last(_ className: String) -> ChangeSummary.TableChanges? {
        guard let key = database.current.snapshot.classTable(named: className)?.key else { return nil }
        return summaries.withLock { $0.last?.tables[key] }
    }

    /// What properties were changed since this was asked last.
    func takeProperties() -> [String] {
        properties.withLock { properties in
            defer { properties = [] }
            return properties
        }
    }
}
