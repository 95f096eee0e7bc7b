// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What `/metrics` tells of each realm.
@Suite struct RealmMetricsTests {
    private func metric(_ server: WriteServer, _ name: String) throws -> Double? { try ServerMetrics(port: server.port)[name] }

    @Test func `writes are counted, with the time that they waited for the writer and held it`() throws {
        let server = try WriteServer()
        for id in 1...3 { try server.send("POST", "app/objects/Note", "{\"text\":\"\(id)\"}") }
        #expect(try metric(server, "commits_total{realm=\"app\"}") == 3)
        for name in ["wait", "hold"] {
            #expect(try metric(server, "write_lock_\(name)_seconds_count{realm=\"app\"}") == 3)
            #expect(try metric(server, "write_lock_\(name)_seconds_bucket{realm=\"app\",le=\"+Inf\"}") == 3)
            let seconds = try metric(server, "write_lock_\(name)_seconds_sum{realm=\"app\"}") ?? 0
            #expect(seconds > 0)
        }
        // A refused write holds the writer, too, and makes no version.
        #expect(try server.send("POST", "app/objects/Note", "{\"text\":7}").status == 422)
        #expect(try metric(server, "commits_total{realm=\"app\"}") == 3)
        let used = try metric(server, "used_bytes{realm=\"app\"}") ?? 0
        let size = try metric(server, "file_bytes{realm=\"app\"}") ?? 0
        #expect(used > 0 && used <= size)
        try server.finish()
    }

    @Test func `a version that somebody holds has an age`() throws {
        let server = try WriteServer()
        #expect(try metric(server, "oldest_pinned_seconds{realm=\"app\"}") == 0)
        let id = try server.send("POST", "app/snapshots").json["id"]?.text ?? ""
        try server.send("POST", "app/objects/Note", "{\"text\":\"a\"}")
        let age = try metric(server, "oldest_pinned_seconds{realm=\"app\"}") ?? 0
        #expect(age > 0)
        try server.send("DELETE", "app/snapshots/\(id)")
        // What reads the old version ends when its answer has left.
        let isOver = eventually { (try? metric(server, "oldest_pinned_seconds{realm=\"app\"}")) == 0 }
        #expect(isOver)
        try server.finish()
    }

    @Test func `what the process takes has the names that all programs share`() throws {
        let server = try WriteServer()
        let text = try HTTPClient.request(port: server.port, "GET", "/metrics").text
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("process_") {
            let parts = line.split(separator: " ")
            values[String(parts[0])] = Double(parts[1])
        }
        let resident = values["process_resident_memory_bytes"] ?? 0
        #expect(resident > 1_048_576 && resident <= values["process_virtual_memory_bytes"] ?? 0)
        #expect(values["process_cpu_seconds_total"] ?? 0 > 0)
        let files = values["process_open_fds"] ?? 0
        #expect(files > 3 && files <= values["process_max_fds"] ?? 0)
        #expect(abs((values["process_start_time_seconds"] ?? 0) - Double(WallClock.now().nanoseconds) / 1e9) < 3600)
        try server.finish()
    }

    @Test func `evaluations stay counted when their realm goes`() throws {
        let fixture = try ChangeFixture()
        let next = try fixture.server.poll("app", "class=Dog")["next"]?.text ?? ""
        try fixture.write(fixture.create(20))
        _ = try fixture.server.poll("app", "class=Dog&since=\(next)")
        let names = ["evaluations_total", "targets_visited_total", "targets_passed_over_total"]
        let counts = try names.map { try fixture.server.metric($0) ?? -1 }
        #expect(counts[0] >= 1 && counts[1] >= 1 && counts[2] >= 0)
        try fixture.server.must("DELETE", "app")
        #expect(try names.map { try fixture.server.metric($0) ?? -1 } == counts)
    }
}
