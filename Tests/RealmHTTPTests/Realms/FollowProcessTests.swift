// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// A server that follows a file while another process writes it. Rows D56, D65, E37.
@Suite("Following another process", .serialized, .enabled(if: ServerProcess.executable != nil, "the executable is not built"))
struct FollowProcessTests {
    private static let accounts = 20
    private static let commits = TestRun.isLong ? 10_000 : 300
    /// The account whose balance is the number of the commit.
    private static let counter = "-1"

    private static let schema = """
        {"schemaVersion":1,"classes":[{"name":"Account","primaryKey":"_id","properties":[{"name":"_id","type":"int"},
        {"name":"balance","type":"int"}]}]}
        """

    /// What the writer has committed: the balances by the number of the commit.
    private struct Log {
        var states: [Int64: [String: Int64]] = [:]
        var failure: String?
    }

    private func withFolder(_ body: (_ folder: String, _ writer: ServerProcess) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-follow-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let writer = try ServerProcess(["--data", folder])
        let made = try HTTPClient.request(
            port: writer.port, "POST", "/v1/realms", headers: [WriteServer.json],
            body: Array(#"{"name":"bank","schema":\#(FollowProcessTests.schema)}"#.utf8))
        try #require(made.status == 201, "\(made.text)")
        let bodies = (-1..<FollowProcessTests.accounts).map { #"{"_id":\#($0),"balance":\#($0 < 0 ? 0 : 100)}"# }
        let filled = try HTTPClient.request(
            port: writer.port, "POST", "/v1/realms/bank/objects/Account", headers: [WriteServer.json],
            body: Array("[\(bodies.joined(separator: ","))]".utf8))
        try #require(filled.status == 201, "\(filled.text)")
        try body(folder, writer)
    }

    /// The balances that a copy shows, by account.
    private func balances(_ rows: [ParsedJSON]) -> [String: Int64] {
        Dictionary(
            rows.map { row in
                let object = row["object"] ?? row
                return ("\(object["_id"]?.integer ?? -9)", object["balance"]?.integer ?? -9)
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `D65: every state that a follower tells is one that the writer has committed`() throws {
        try withFolder { folder, writer in
            let follower = try ServerProcess(["--follow", folder + "/bank.realm"])
            let stream = try EventClient(port: follower.port, "/v1/realms/bank/changes?class=Account")
            var copy = ClientCopy()
            while let event = try stream.next(), event.name != "ready" {
                if event.name == "snapshot" { copy.take(snapshot: event.json) }
            }
            let log = Monitor(Log())
            log.withLock { $0.states[0] = balances(copy.rows) }
            let port = writer.port
            Thread.detachNewThread { FollowProcessTests.write(port, log) }
            var told = 0
            var last: Int64 = 0
            while last < Int64(FollowProcessTests.commits) {
                let failure = log.withLock { $0.failure }
                try #require(failure == nil, "\(failure ?? "")")
                let event = try stream.next("changes")
                try copy.apply(event.json)
                let state = balances(copy.rows)
                last = try #require(state[FollowProcessTests.counter])
                // A commit is logged before it is sent.
                let known = log.withLock { $0.states[last] }
                #expect(state == known, "after \(told) change sets, at commit \(last)")
                guard state == known else { break }
                told += 1
            }
            #expect(told > 5)
            let fresh = try HTTPClient.request(port: follower.port, "GET", "/v1/realms/bank/objects/Account?limit=100").json
            #expect(balances(fresh["items"]?.elements ?? []) == balances(copy.rows))
            let realm = try HTTPClient.request(port: follower.port, "GET", "/v1/realms/bank").json
            #expect(realm["mode"]?.text == "follow" && realm["fileVersion"]?.text != nil)
            #expect(follower.stop() == 0)
            #expect(writer.stop() == 0)
        }
    }

    /// Moves money in bursts with pauses between them; each commit has its number as one of the balances.
    private static func write(_ port: Int, _ log: Monitor<Log>) {
        do {
            var generator = SeededGenerator(seed: 11)
            let client = try HTTPClient(port: port)
            for number in 1...Int64(commits) {
                let from = "\(Int.random(in: 0..<accounts, using: &generator))"
                let to = "\(Int.random(in: 0..<accounts, using: &generator))"
                var state = log.withLock { $0.states[number - 1] ?? [:] }
                state[from, default: 0] -= 1
                state[to, default: 0] += 1
                state[counter] = number
                log.withLock { $0.states[number] = state }
                let operations = [from, to, counter].map {
                    #"{"patch":{"class":"Account","key":"\#($0)","body":{"balance":\#(state[$0] ?? 0)}}}"#
                }
                let answer = try client.request(
                    "POST", "/v1/realms/bank/batch", headers: [WriteServer.json],
                    body: Array(#"{"ops":[\#(operations.joined(separator: ","))]}"#.utf8))
                guard answer.status == 200 else { return log.withLock { $0.failure = answer.text } }
                if Int.random(in: 0..<20, using: &generator) == 0 { usleep(UInt32.random(in: 0..<60_000, using: &generator)) }
            }
        } catch {
            log.withLock { $0.failure = "\(error)" }
        }
    }

    @Test func `D56, E37: a file that an app has open is served neither rw nor ro, and the answer names follow and copy`() throws
    {
        try withFolder { folder, writer in
            try FileManager.default.createDirectory(atPath: folder + "/none", withIntermediateDirectories: true)
            let other = try ServerProcess(["--data", folder + "/none", "--attach-root", folder, "--memory", "m"])
            func attach(_ members: String) throws -> HTTPClient.Answer {
                try HTTPClient.request(
                    port: other.port, "POST", "/v1/realms", headers: [WriteServer.json],
                    body: Array(#"{"name":"view","path":"\#(folder)/bank.realm",\#(members)}"#.utf8))
            }
            for mode in ["rw", "ro"] {
                #expect(try attach(#""mode":"\#(mode)""#).code == "file_in_use", "\(mode)")
                let deletion = try HTTPClient.request(port: other.port, "DELETE", "/v1/realms/view?files=true")
                #expect(deletion.status == 404)
            }
            let refused = try attach(#""mode":"ro""#)
            #expect(refused.status == 409 && refused.code == "file_in_use")
            #expect(refused.text.contains("follow") && refused.text.contains("copy"))
            #expect(try attach(#""mode":"follow","followInterval":"5ms""#).code == "invalid_body")
            #expect(try attach(#""mode":"copy","followInterval":"50ms""#).code == "conflicting_parameters")
            let copied = try attach(#""mode":"copy""#)
            #expect(copied.status == 201 && copied.json["mode"]?.text == "copy", "\(copied.text)")
            #expect(try HTTPClient.request(port: other.port, "DELETE", "/v1/realms/view").status == 204)
            let taken = try attach(#""mode":"follow","followInterval":"20ms""#)
            #expect(taken.status == 201 && taken.json["mode"]?.text == "follow", "\(taken.text)")
            let path = "/v1/realms/view/objects/Account"
            let write = try HTTPClient.request(
                port: other.port, "POST", path, headers: [WriteServer.json], body: Array(#"{"_id":77,"balance":1}"#.utf8))
            #expect(write.status == 405 && write.code == "read_only")
            let deletion = try HTTPClient.request(port: other.port, "DELETE", "/v1/realms/view?files=true")
            #expect(deletion.status == 409 && deletion.code == "not_owned")
            let restore = try HTTPClient.request(
                port: other.port, "POST", "/v1/realms/view/restore", headers: [("Content-Type", "application/octet-stream")],
                body: Array("x".utf8))
            #expect(restore.status >= 400 && restore.status < 500, "\(restore.text)")
            #expect(FileManager.default.fileExists(atPath: folder + "/bank.realm"))
            #expect(other.stop() == 0)
            #expect(writer.stop() == 0)
        }
    }

    @Test func `D65: a private copy is told of its own commits only, and a file that two write to is not served`() throws {
        try withFolder { folder, writer in
            let other = try ServerProcess(["--memory", "m", "--attach-root", folder])
            func send(_ server: ServerProcess, _ path: String, _ body: String) throws -> HTTPClient.Answer {
                try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms" + path, headers: [WriteServer.json], body: Array(body.utf8))
            }
            let path = #""name":"view","path":"\#(folder)/bank.realm""#
            // Who may write the file, or is promised that it stays as it is, hears of no commit elsewhere: there can be none.
            for mode in ["rw", "ro"] {
                #expect(try send(other, "", #"{\#(path),"mode":"\#(mode)"}"#).code == "file_in_use")
            }
            #expect(try send(other, "", #"{\#(path),"mode":"copy"}"#).status == 201)
            let stream = try EventClient(port: other.port, "/v1/realms/view/changes?class=Account&include=keys")
            while let event = try stream.next(), event.name != "ready" {}
            #expect(try send(writer, "/bank/objects/Account", #"{"_id":500,"balance":1}"#).status == 201)
            #expect(try send(other, "/view/objects/Account", #"{"_id":600,"balance":1}"#).status == 201)
            let told = try stream.next("changes").json
            #expect(told["insertions"]?.elements?.map { $0["key"]?.text } == ["600"], "\(told)")
            #expect(told["count"]?.int == FollowProcessTests.accounts + 2)
            #expect(other.stop() == 0)
            #expect(writer.stop() == 0)
        }
    }

    @Test func `D65: while the file is away reads answer 503 and streams stay open`() throws {
        try withFolder { folder, writer in
            #expect(writer.stop() == 0)
            let path = folder + "/bank.realm"
            let follower = try ServerProcess(["--follow", path])
            let client = try HTTPClient(port: follower.port)
            let stream = try EventClient(port: follower.port, "/v1/realms/bank/changes?class=Account")
            while let event = try stream.next(), event.name != "ready" {}
            let epoch = try client.request("GET", "/v1/realms/bank").json["version"]?.text?.split(separator: ".").first
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            let list = "/v1/realms/bank/objects/Account"
            #expect(try eventually { try client.request("GET", list).status == 503 })
            let away = try client.request("GET", list)
            #expect(away.code == "realm_unavailable", "\(away.text)")
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
            #expect(try eventually { try client.request("GET", list).status == 200 })
            let again = try ServerProcess([path])
            let patch = try HTTPClient.request(
                port: again.port, "PATCH", list + "/3", headers: [("Content-Type", "application/merge-patch+json")],
                body: Array(#"{"balance":5}"#.utf8))
            #expect(patch.status == 200, "\(patch.text)")
            let event = try stream.next("changes")
            #expect(event.json["modifications"]?.elements?.count == 1)
            #expect(try client.request("GET", "/v1/realms/bank").json["version"]?.text?.split(separator: ".").first == epoch)
            #expect(again.stop() == 0)
            #expect(follower.stop() == 0)
        }
    }

    @Test func `D65: when the file comes back with an earlier version, streams go on with a reset under a new epoch`() throws {
        try withFolder { folder, writer in
            #expect(writer.stop() == 0)
            let path = folder + "/bank.realm"
            try FileManager.default.copyItem(atPath: path, toPath: path + ".old")
            let list = "/v1/realms/bank/objects/Account"
            func patch(_ balance: Int) throws {
                let server = try ServerProcess([path])
                let answer = try HTTPClient.request(
                    port: server.port, "PATCH", list + "/3", headers: [("Content-Type", "application/merge-patch+json")],
                    body: Array(#"{"balance":\#(balance)}"#.utf8))
                #expect(answer.status == 200, "\(answer.text)")
                #expect(server.stop() == 0)
            }
            try patch(5)
            let follower = try ServerProcess(["--follow", path])
            let client = try HTTPClient(port: follower.port)
            let changes = "/v1/realms/bank/changes?class=Account"
            let stream = try EventClient(port: follower.port, changes)
            while let event = try stream.next(), event.name != "ready" {}
            let position = try #require(stream.lastID)
            let epoch = position.prefix { $0 != "." }
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            #expect(try eventually { try client.request("GET", list).status == 503 })
            #expect(try client.request("GET", "/readyz").status == 503)
            try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
            let reset = try stream.next("reset")
            #expect(reset.json["reason"]?.text == "epoch" && reset.json["subs"]?.elements?.count == 1, "\(reset.json)")
            var copy = ClientCopy()
            copy.take(snapshot: try stream.next("snapshot").json)
            #expect(balances(copy.rows)["3"] == 100)
            let ready = try stream.next("ready")
            #expect(try #require(ready.id).prefix { $0 != "." } != epoch)
            #expect(try eventually { try client.request("GET", "/readyz").status == 200 })
            #expect(try client.request("GET", "/v1/realms/bank").json["version"]?.text == ready.id)
            // Who was away meanwhile begins anew as well, and a position after it is good.
            let returning = try EventClient(
                port: follower.port, changes, headers: [("Last-Event-ID", position)])
            #expect(try returning.next("reset").json["reason"]?.text == "epoch")
            let poll = try client.request("GET", changes + "&since=" + position)
            #expect(poll.json["reset"]?["reason"]?.text == "epoch", "\(poll.text)")
            let held = try client.request("GET", changes + "&since=" + (ready.id ?? ""))
            #expect(held.json["reset"] == .null, "\(held.text)")
            try patch(6)
            let event = try stream.next("changes")
            #expect(event.json["modifications"]?.elements?.count == 1)
            #expect(follower.stop() == 0)
        }
    }
}
