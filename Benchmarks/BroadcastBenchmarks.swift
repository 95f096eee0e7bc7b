// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Measures the delivery of one commit to ten thousand streams of one result, in addition to a hundred different results.
///
/// The server is compared with `BareBroadcast`, which sends the same number of bytes to as many connections.
struct BroadcastBenchmarks {
    /// The number of streams that observe the same result.
    private static let listeners = 10_000
    /// The number of streams that each observe a different result.
    private static let others = 100
    /// The number of measured commits in a round, after two that warm up.
    private static let commits = 15

    /// The folder for the files that are written.
    private let folder: ScratchFolder

    /// Prepares the benchmark, which writes its files to `folder`.
    init(_ folder: ScratchFolder) { self.folder = folder }

    /// Runs three rounds of both in turns, and reports their medians.
    ///
    /// - Parameter report: Receives the results.
    /// - Throws: `BenchmarkError` when a stream or a write fails.
    func run(_ report: inout Report) throws {
        report.begin("one commit to \(Self.listeners) streams and \(Self.others) other results", comparedWith: "broadcast")
        var served: [Outcome] = []
        var bare: [Double] = []
        // Both run in turns, so that they meet the same conditions of the machine.
        for round in 0..<3 {
            let outcome = try serve(round)
            served.append(outcome)
            bare.append(try broadcast(outcome.eventBytes))
        }
        let last = median(served.map(\.milliseconds))
        report.add(
            "last stream has its event", .milliseconds, last, comparedWith: median(bare),
            note: "after the write was answered; \(fixed(served[1].fromStart, decimals: 1, width: 0)) ms after it began; "
                + "event of \(served[1].eventBytes) bytes")
        report.add(
            "streams ended by the server", .milliseconds, median(served.map(\.ending)),
            note: "until the last connection was closed")
        print(
            "  per commit \(served[1].evaluations) evaluations and \(served[1].encodings) encodings; "
                + "\(served[0].bytesPerStream) bytes of memory per stream")
    }

    /// The results of one round of the measurement with the server.
    private struct Outcome {
        /// The median time in milliseconds from the response of a write until the last stream has received its event.
        var milliseconds = 0.0
        /// The median time in milliseconds from the start of the write until then.
        var fromStart = 0.0
        /// The time in milliseconds that the server needed to end all streams.
        var ending = 0.0
        /// The number of evaluations of observed targets for each commit, as text.
        var evaluations = ""
        /// The number of encodings of change sets for each commit, as text.
        var encodings = ""
        /// The anonymous memory in bytes that each stream takes in the server's process.
        var bytesPerStream = 0
        /// The approximate size of an event in bytes.
        var eventBytes = 0
    }

    // MARK: - Served

    /// Runs one round with the server.
    ///
    /// - Parameter round: The number of the round, which makes the name of its file unique.
    /// - Returns: The results of the round.
    /// - Throws: `BenchmarkError` when a stream or a write fails.
    private func serve(_ round: Int) throws -> Outcome {
        let path = "\(folder.path)/crowd-\(round).realm"
        let realm = try WrittenRealm(emptyAt: path, seed: 31)
        _ = try realm.make(1, perCommit: 1000, commits: 1)
        realm.database.close()
        let server = try start(path)
        var isStopped = false
        defer { if !isStopped { server.stop(isUrgent: { true }) } }
        let memory = ProcessMemory.anonymousBytes
        let crowd = try StreamCrowd(port: server.daemon.socket.port, targets: targets("crowd-\(round)"))
        defer { crowd.end() }
        try crowd.waitUntilReady()
        var outcome = Outcome()
        outcome.bytesPerStream = (ProcessMemory.anonymousBytes - memory) / (Self.listeners + Self.others)
        try measure(server, realm: "crowd-\(round)", listenedToBy: crowd, &outcome)
        let begin = Harness.now()
        server.stop()
        isStopped = true
        outcome.ending = Double(Harness.now() - begin) / 1e6
        return outcome
    }

    /// Starts a server for one file, with limits that allow all streams and without heartbeats during the measurement.
    ///
    /// - Parameter path: The file to serve.
    private func start(_ path: String) throws -> RealmServer {
        var options = ServerOptions()
        options.port = 0
        options.paths = [path]
        options.logFormat = nil
        options.limits.streams = Self.listeners * 2
        options.limits.streamsPerPrincipal = Self.listeners * 2
        options.limits.http.connections = Self.listeners + 1000
        options.limits.http.connectionsPerAddress = Self.listeners + 1000
        // Heartbeats would add bytes of other streams between the events.
        options.limits.http.heartbeat = 60
        let server = try RealmServer(options)
        try server.start()
        return server
    }

    /// Returns the request targets of all streams, with the number of connections that open each.
    private func targets(_ realm: String) -> [(target: String, count: Int)] {
        let changes = "/v1/realms/\(realm)/changes?class=Item"
        // Every commit causes an event in each stream.
        return [(changes + "&initial=false", Self.listeners)]
            + (0..<Self.others).map { (changes + "&initial=false&where=id%20%3E%20\($0)", 1) }
    }

    /// Measures the commits of one round.
    ///
    /// - Parameters:
    ///   - server: The running server.
    ///   - crowd: The clients, all of which are listening.
    ///   - outcome: Receives the results.
    private func measure(_ server: RealmServer, realm name: String, listenedToBy crowd: StreamCrowd, _ outcome: inout Outcome)
        throws
    {
        guard case .ready(let database)? = server.state.catalog[name] else {
            throw BenchmarkError.unsuitable("the realm is not served")
        }
        let writer = try WrittenRealm(database, seed: 32)
        var times: [Double] = []
        var starts: [Double] = []
        let before = try figures(server)
        for number in 0..<(Self.commits + 2) {
            let start = Harness.now()
            let answered = try writer.makeOne(age: 5)
            let last = try crowd.waitForEvent()
            guard number >= 2 else { continue }
            times.append(Double(last - answered) / 1e6)
            starts.append(Double(last - start) / 1e6)
        }
        let after = try figures(server)
        let count = Double(Self.commits + 2)
        outcome.milliseconds = median(times)
        outcome.fromStart = median(starts)
        outcome.evaluations = fixed((after.evaluations - before.evaluations) / count, decimals: 2, width: 0)
        outcome.encodings = fixed((after.encodings - before.encodings) / count, decimals: 2, width: 0)
        outcome.eventBytes = try eventBytes(server, name)
    }

    /// Returns the numbers of evaluations and encodings so far, from the metrics of the server.
    private func figures(_ server: RealmServer) throws -> (evaluations: Double, encodings: Double) {
        let body = try LoadClient(port: server.daemon.socket.port).body(of: "/metrics") ?? []
        var evaluations = 0.0
        var encodings = 0.0
        for line in String(decoding: body, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            if parts[0] == "realm_rest_evaluations_total" { evaluations = value }
            if parts[0] == "realm_rest_encodings_total" { encodings = value }
        }
        return (evaluations, encodings)
    }

    /// Returns the approximate size of an event: that of the poll response with the same change.
    ///
    /// - Parameters:
    ///   - server: The running server.
    /// - Returns: The number of bytes; 600 when the poll does not succeed.
    private func eventBytes(_ server: RealmServer, _ name: String) throws -> Int {
        let client = LoadClient(port: server.daemon.socket.port)
        let target = "/v1/realms/\(name)/changes?class=Item&wait=0"
        let first = try client.body(of: target + "&initial=false") ?? []
        guard
            let next = String(decoding: first, as: UTF8.self).split(separator: "\"next\":\"").last?.prefix(while: { $0 != "\"" }),
            case .ready(let database)? = server.state.catalog[name]
        else { return 600 }
        _ = try WrittenRealm(database, seed: 33).makeOne(age: 5)
        return try client.body(of: target + "&since=\(next)")?.count ?? 600
    }

    // MARK: - Bare

    /// Measures the wait of the last of as many connections for the same bytes when they are only sent.
    ///
    /// - Parameter byteCount: The size of the event in bytes.
    /// - Returns: The median time in milliseconds.
    private func broadcast(_ byteCount: Int) throws -> Double {
        let total = Self.listeners + Self.others
        let broadcast = try BareBroadcast()
        defer { broadcast.stop() }
        let crowd = try StreamCrowd(port: broadcast.port, targets: [("/", total)])
        defer { crowd.end() }
        broadcast.accept(total)
        try crowd.waitUntilReady()
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: max(2, byteCount - 2)) + [10, 10]
        var times: [Double] = []
        for number in 0..<(Self.commits + 2) {
            let start = Harness.now()
            broadcast.send(bytes)
            let last = try crowd.waitForEvent()
            if number >= 2 { times.append(Double(last - start) / 1e6) }
        }
        return median(times)
    }
}
