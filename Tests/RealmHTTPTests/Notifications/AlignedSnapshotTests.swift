// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// A definition that takes long holds up the alignment of a cheap one, whose change sets are dropped meanwhile.
@Suite("Notifications: snapshots of several definitions")
struct AlignedSnapshotTests {
    /// A path that takes long: each of twelve objects links to all.
    private static let long = "ANY to.to.to.v == _id - 100"

    /// A client that came back to several definitions had each of them read at a version of its own, evaluated up to those of the others,
    /// and all of that once more, as its position was lost.
    ///
    /// A version is not kept for definitions that take longer than a part of the limit, and definitions that exceed it fail, so the limit
    /// has to fit the machine.
    @Test func `are made by one evaluation of each for who comes back when no version is kept`() throws {
        for seconds in [3, 10, 40, 3, 10, 40] where try counted(withLimit: seconds) { return }
        Issue.record("no limit fitted the machine")
    }

    /// Returns whether the evaluations could be counted; not when an evaluation took too long or too little time for the limit.
    private func counted(withLimit seconds: Int) throws -> Bool {
        let server = try ChangeServer { $0.limits.observationSeconds = seconds }
        try server.makeRealm(
            "r",
            classes: """
                [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"v","type":"int"},
                {"name":"to","type":"object","objectType":"N","collection":"list"}]},
                {"name":"C","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]
                """)
        try server.batch("r", (0..<20).map { #"{"create":{"class":"N","body":{"_id":\#($0),"v":1}}}"# })
        let all = (0..<20).map { "\"\($0)\"" }.joined(separator: ",")
        try server.batch("r", (0..<20).map { #"{"patch":{"class":"N","key":"\#($0)","body":{"to":[\#(all)]}}}"# })
        let count = 5
        let definitions = (0..<count).map {
            #""d\#($0)":{"class":"N","where":"ANY to.to.to.v == _id - \#(100 + $0)","include":"none"}"#
        }
        let registration = try server.send(
            "POST", "r/subscriptions", #"{"subscriptions":{\#(definitions.joined(separator: ","))}}"#)
        guard registration.status == 201 else { return false }
        let id = try #require(registration.json["id"]?.text)
        let begin = try #require(registration.json["version"]?.text)
        @Sendable func write(_ value: Int) throws {
            _ = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/r/batch", headers: [("Content-Type", "application/json")],
                body: Array(#"{"ops":[{"patch":{"class":"N","key":"1","body":{"v":\#(value)}}}]}"#.utf8))
        }
        try write(2)
        // The versions are counted at commits.
        var row = 0
        let isDropped = try eventually(seconds: 20) {
            row += 1
            try server.batch("r", [#"{"create":{"class":"C","body":{"_id":\#(row)}}}"#])
            return try row > 1 && server.metric("notifier_held_versions") == 0
        }
        guard isDropped else { return false }
        let isOver = RankedMutex(.leaf, false)
        let before = try server.metric("evaluations_total") ?? 0
        let writer = StoppingThread {
            // They end, so that a busy machine comes to answer.
            for value in 3..<300 where !isOver.withLock({ $0 }) {
                try? write(value)
                Threads.sleep(seconds: 0.005)
            }
        }
        let answer = try server.send("GET", "r/changes?subscription=\(id)&since=\(begin)&wait=0")
        let evaluations = (try server.metric("evaluations_total") ?? 0) - before
        isOver.withLock { $0 = true }
        writer.wait()
        guard answer.status == 200 else { return false }
        // A fast machine has advanced all of them meanwhile.
        let versions = answer.json["snapshots"]?.elements?.map { $0["version"]?.text } ?? []
        #expect(versions.allSatisfy { $0 == answer.json["next"]?.text }, "\(answer.text)")
        // While the answer was written, others may have begun.
        #expect(Int(evaluations) < count * 2, "\(evaluations) evaluations")
        return true
    }

    /// The number of a version, after the text that all versions of a realm share.
    private func number(_ version: String?) throws -> Int {
        try #require(version?.split(separator: ".").last.flatMap { Int($0) })
    }

    @Test func `show the rows of the version that they state, when change sets were dropped since these were read`() throws {
        let server = try ChangeServer { $0.limits.retentionSets = 1 }
        try server.makeRealm(
            "r",
            classes: """
                [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"v","type":"int"},
                {"name":"to","type":"object","objectType":"N","collection":"list"}]},
                {"name":"C","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]
                """)
        try server.batch("r", (0..<12).map { #"{"create":{"class":"N","body":{"_id":\#($0),"v":1}}}"# })
        let all = (0..<12).map { "\"\($0)\"" }.joined(separator: ",")
        try server.batch("r", (0..<12).map { #"{"patch":{"class":"N","key":"\#($0)","body":{"to":[\#(all)]}}}"# })
        let body =
            #"{"subscriptions":{"cheap":{"class":"C","include":"none"},"long":{"class":"N","where":"\#(Self.long)","include":"none"}}}"#
        let registration = try server.must("POST", "r/subscriptions", body)
        let id = try #require(registration["id"]?.text)
        let begin = try #require(registration["version"]?.text)
        let base = try number(begin)
        let isOver = RankedMutex(.leaf, false)
        // Each commit makes one row of the cheap definition, and concerns the long one.
        let writer = StoppingThread { [port = server.port] in
            for row in 0... {
                if isOver.withLock({ $0 }) { return }
                let ops =
                    #"{"create":{"class":"C","body":{"_id":\#(row)}}},{"patch":{"class":"N","key":"1","body":{"v":\#(row)}}}"#
                _ = try? HTTPClient.request(
                    port: port, "POST", "/v1/realms/r/batch", headers: [("Content-Type", "application/json")],
                    body: Array(#"{"ops":[\#(ops)]}"#.utf8))
            }
        }
        defer {
            isOver.withLock { $0 = true }
            writer.wait()
        }
        var count = 0
        let end = Instant.now().adding(seconds: 300)
        while count < 12, Instant.now() < end {
            let answer = try server.send("GET", "r/changes?subscription=\(id)&since=\(begin)&wait=0")
            guard answer.status == 200 else { continue }
            for snapshot in answer.json["snapshots"]?.elements ?? [] where snapshot["sub"]?.text == "cheap" {
                let version = try number(snapshot["version"]?.text)
                #expect(snapshot["count"]?.int == version - base, "\(snapshot)")
                count += 1
            }
        }
        #expect(count > 3, "nothing was tried")
    }
}
