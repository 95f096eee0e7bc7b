// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite(
    "Connections by the hundred (A23)", .enabled(if: ServerProcess.executable != nil, "the executable is not built"), .serialized,
    .ownThread)
struct ConnectionStormTests {
    /// Everything that may be as many as there are clients, and that nobody keeps for longer than a second.
    private static let limits = [
        "streams=9000", "streams-per-principal=9000", "connections=9000", "connections-per-address=9000", "registrations=9000",
        "registration-seconds=1", "retention-seconds=1", "snapshots=100",
    ]
    private static let perSecond = 200.0

    // MARK: - Coming and going

    /// What must be as it was when all are gone.
    private struct Counts {
        let memory: Int
        let openFiles: Int
        let threads: Int
        let metrics: ServerMetrics

        init(_ server: FaultServer) throws {
            metrics = try server.metrics()
            memory = server.memory
            openFiles = server.openFiles
            threads = server.threads
        }

        /// What is still held on behalf of clients.
        var held: [String] {
            let none = ["streams", "waiting_polls", "registrations", "observed_definitions"].filter { metrics[$0] != 0 }
            let versions = metrics["live_versions{realm=\"app\"}"] ?? 0
            return none.map { "\($0) \(metrics[$0] ?? -1)" } + (versions > 1 ? ["live versions \(versions)"] : [])
                + (metrics["connections"] ?? 0 > 1 ? ["connections \(metrics["connections"] ?? 0)"] : [])
        }
    }

    @Test func `200 clients a second come and go while there are commits, and nothing of them is left`() throws {
        let server = try FaultServer(limits: ConnectionStormTests.limits)
        let text = String(repeating: "t", count: 300)
        for start in [0, 800, 1600] { try server.write((start..<start + 800).map { FaultServer.upsert($0, $0, text) }) }
        var clients = Clients(server.port, seed: 4711)
        let warmUp = try ConnectionStormTests.writing(to: server) { try clients.run(seconds: TestRun.isLong ? 10 : 1.5) }
        let before = try settled(server)
        // In the long form twice, which shows whether it goes on growing.
        let half = TestRun.isLong ? try ConnectionStormTests.writing(to: server) { try clients.run(seconds: 60) } : nil
        let middle = try settled(server)
        let run = try ConnectionStormTests.writing(to: server) { try clients.run(seconds: TestRun.isLong ? 60 : 3) }
        let after = try settled(server)
        #expect(after.openFiles <= before.openFiles + 2, "\(before.openFiles) -> \(after.openFiles)")
        // On a busy machine workers are added that the time before had no need of, up to their limit; clients are hundreds.
        #expect(after.threads <= before.threads + 8, "\(before.threads) -> \(after.threads)")
        let growth = (after.memory - before.memory) >> 20
        #expect(growth < 32, "\(growth) MiB more after \(run.result.count) clients")
        #expect(run.commits > 5 && server.isAlive && clients.refused == 0)
        if TestRun.isLong {
            let (count, seconds) = run.result
            print(
                "storm: \(warmUp.result.count) + \(half?.result.count ?? 0) + \(count) clients, \(Int(Double(count) / seconds)) a second, \(run.commits) commits;",
                "files \(before.openFiles) -> \(after.openFiles), threads \(before.threads) -> \(after.threads),",
                "memory \(before.memory >> 20) -> \(middle.memory >> 20) -> \(after.memory >> 20) MiB, replays \(after.metrics["replayed_sets_total"] ?? -1)"
            )
        }
    }

    /// Runs something while another client commits, and tells how often.
    private static func writing<Result>(
        to server: FaultServer, _ body: () throws -> Result
    ) throws -> (result: Result, commits: Int) {
        let isDone = Atomic<Bool>(false)
        let commits = Atomic<Int>(0)
        let port = server.port
        let text = String(repeating: "t", count: 300)
        let writer = StoppingThread {
            var round = 0
            while !isDone.load(ordering: .relaxed) {
                round += 1
                let ops = (0..<3).map { FaultServer.upsert((round * 7 + $0) % 2400, round, text) }.joined(separator: ",")
                let answer = try? HTTPClient.request(
                    port: port, "POST", "/v1/realms/app/batch", headers: [("Content-Type", "application/json")],
                    body: Array("{\"ops\":[\(ops)]}".utf8))
                if answer?.status == 200 { commits.add(1, ordering: .relaxed) }
                Threads.sleep(seconds: 0.02)
            }
        }
        defer { writer.wait() }
        defer { isDone.store(true, ordering: .relaxed) }
        return (try body(), commits.load(ordering: .relaxed))
    }

    private func settled(_ server: FaultServer) throws -> Counts {
        var counts = try Counts(server)
        let isSettled = try eventually {
            counts = try Counts(server)
            return counts.held.isEmpty
        }
        #expect(isSettled, "\(counts.held)")
        return counts
    }

    /// Clients of all kinds, one after another; about a hundred are there at a time.
    private struct Clients {
        private enum Kind: CaseIterable {
            /// A stream that is read.
            case stream
            /// One of its own definition.
            case own
            /// One of everything, broken off in the middle of its snapshot.
            case snapshot
            /// Waits for something that does not come.
            case poll
            /// Comes back with a position.
            case resumed
            /// Registers, and reads by the ticket.
            case registered
            /// Says half of a request.
            case silent
        }

        private let port: Int
        private var random: SeededGenerator
        private var open: [(kind: Kind, connection: RawConnection)] = []
        private var count = 0
        private var position = "now"
        private(set) var refused = 0

        init(_ port: Int, seed: UInt64) {
            self.port = port
            random = SeededGenerator(seed: seed)
        }

        /// How many came, and how long it took.
        mutating func run(seconds: Double) throws -> (count: Int, seconds: Double) {
            let start = Instant.now()
            let total = Int(seconds * ConnectionStormTests.perSecond)
            for number in 0..<total {
                let due = start.adding(seconds: Double(number) / ConnectionStormTests.perSecond)
                let early = due.seconds(since: .now())
                if early > 0 { Threads.sleep(seconds: early) }
                try come()
                if open.count > 100 { leave(Int.random(in: 0..<20, using: &random)) }
            }
            let took = Instant.now().seconds(since: start)
            while !open.isEmpty { leave(0) }
            return (total, took)
        }

        private mutating func come() throws {
            count += 1
            let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &random)]
            let connection: RawConnection
            switch kind {
            case .stream: connection = try stream("class=Item&where=n%3C50&include=keys")
            case .own: connection = try stream("class=Item&where=n%3C\(count % 97)&include=keys&limit=\(1 + count)")
            case .snapshot: connection = try RawConnection(port: port, FaultServer.changes("class=Item"), receiveBuffer: 4096)
            case .poll:
                let query = "class=Item&where=n%20%3D%3D%20-5&since=\(position)&wait=55"
                connection = try RawConnection(port: port, FaultServer.changes(query), accept: "application/json")
            case .resumed: connection = try stream("class=Item&include=none&since=\(position)")
            case .registered: connection = try registered()
            case .silent:
                connection = try RawConnection(port: port)
                try connection.send("GET /v1/realms/app/changes?class=It")
            }
            open.append((kind, connection))
        }

        private func stream(_ query: String) throws -> RawConnection { try RawConnection(port: port, FaultServer.changes(query)) }

        private mutating func registered() throws -> RawConnection {
            let answer = try HTTPClient.request(
                port: port, "POST", "/v1/realms/app/subscriptions", headers: [("Content-Type", "application/json")],
                body: Array(
                    #"{"subscriptions":{"a":{"class":"Item","include":"none"},"b":{"class":"Item","where":"n < 9"}}}"#.utf8))
            guard answer.status == 201, let url = answer.json["url"]?.text else {
                throw HTTPClient.Failure(description: "\(answer.status) \(answer.text)")
            }
            position = answer.json["version"]?.text ?? position
            return try RawConnection(port: port, url)
        }

        /// One of those that are there goes, in one of the ways in which clients go.
        private mutating func leave(_ index: Int) {
            let (kind, connection) = open.remove(at: min(index, open.count - 1))
            switch kind {
            case .snapshot, .silent: connection.socket.reset()
            case .poll: Bool.random(using: &random) ? connection.socket.close() : connection.socket.reset()
            default:
                // Who has read everything closes with a FIN, and who has not breaks the connection.
                if Bool.random(using: &random) {
                    _ = connection.read(until: "event: ready", seconds: 30)
                    if connection.text.hasPrefix("HTTP/1.1 "), !connection.text.hasPrefix("HTTP/1.1 200") { refused += 1 }
                }
                connection.socket.close()
            }
        }
    }

    // MARK: - The end of the server

    @Test func `a server that ends says so to every stream and closes it, and does not wait for those who do not listen`() throws
    {
        let count = TestRun.isLong ? 5000 : 500
        raiseFileLimit()
        let server = try FaultServer(limits: ConnectionStormTests.limits)
        let text = String(repeating: "t", count: 200_000)
        try server.write((0..<20).map { FaultServer.upsert($0, $0, text) })
        let streams = try (0..<count).map { number in
            try RawConnection(port: server.port, FaultServer.changes("class=Item&include=keys&where=n%3C\(number % 10)"))
        }
        for stream in streams { #expect(stream.read(until: "event: ready")) }
        // Those who do not read, and where it can be done those who are gone without a word.
        let deaf = try (0..<10).map { _ in
            try RawConnection(port: server.port, FaultServer.changes("class=Item"), receiveBuffer: 4096)
        }
        for stream in deaf { #expect(stream.read(until: "event: snapshot")) }
        for stream in deaf.prefix(5) { _ = stream.socket.becomeDeaf() }
        let now = try server.must("GET", FaultServer.changes("class=Item&since=now"))["next"]?.text ?? ""
        let polls = try (0..<20).map { _ in
            try RawConnection(
                port: server.port, FaultServer.changes("class=Item&include=none&since=\(now)&wait=55"), accept: "application/json"
            )
        }
        #expect(try eventually { try server.metric("waiting_polls") == 20 })
        #expect(try server.metric("streams") == Double(count + 10))
        let memory = server.memory
        let start = Instant.now()
        let process = server.process.process
        process.terminate()
        let ended = streams.count { $0.readToEnd() && $0.text.contains("event: end\ndata: {\"reason\":\"shutdown\"}") }
        let told = Instant.now().seconds(since: start)
        #expect(ended == count)
        #expect(
            polls.allSatisfy { $0.readToEnd() && $0.text.hasPrefix("HTTP/1.1 200") && $0.text.contains("\"next\":\"\(now)\"}") })
        process.waitUntilExit()
        let seconds = Instant.now().seconds(since: start)
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
        // What is asked for is ten; a machine that does other things too may take longer over it.
        #expect(seconds < (TestRun.isLong ? 10 : 40))
        if TestRun.isLong {
            print(
                "shutdown: \(ended) of \(count) streams were told, the last after \(told) s; the process was gone after \(seconds) s;",
                "memory with all streams \(memory >> 20) MiB")
        }
        withExtendedLifetime(deaf) {}
    }

    private func raiseFileLimit() {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
