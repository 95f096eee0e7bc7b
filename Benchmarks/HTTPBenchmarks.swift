// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Measures requests over loopback to the whole server, which runs in the same process as its client.
struct HTTPBenchmarks {
    /// The number of rounds, of which the median is reported.
    private static let rounds = 5
    /// The duration of a round in seconds.
    private static let secondsPerRound = 0.4

    /// The path of the file that is served during the measurement.
    private let path: String
    /// The name under which it is served.
    private let realm: String

    /// Prepares the benchmark for a file, which is served read-only.
    init(_ path: String) {
        self.path = path
        let name = path.split(separator: "/").last ?? ""
        realm = name.hasSuffix(".realm") ? String(name.dropLast(6)) : String(name)
    }

    /// Measures all requests with and without the cache of responses.
    ///
    /// - Parameter report: Receives the results.
    func run(_ report: inout Report) throws {
        // First every response is made anew, as for requests that are not repeated; then cached
        // responses are used.
        try run("over HTTP, requests", answerCacheBytes: 0, &report)
        try run("over HTTP, requests asked again", answerCacheBytes: Limits().answerCacheBytes, &report)
    }

    /// Measures all requests with one configuration of the server.
    ///
    /// - Parameters:
    ///   - title: The title of the section in the report.
    ///   - answerCacheBytes: The size of the response cache in bytes; 0 turns it off.
    ///   - report: Receives the results.
    private func run(_ title: String, answerCacheBytes: Int, _ report: inout Report) throws {
        var options = ServerOptions()
        options.port = 0
        options.paths = [path]
        options.logFormat = nil
        options.isReadOnly = true
        options.limits.answerCacheBytes = answerCacheBytes
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop(isUrgent: { true }) }
        let client = LoadClient(port: server.daemon.socket.port)
        report.begin(title, comparedWith: "constant")
        for (name, targets, isCompared) in rows {
            try measure(name, targets, isCompared: isCompared, with: client, &report)
        }
    }

    /// The measured requests: a name, the targets that are requested in turn, and whether the
    /// rate is compared with `BareDaemon`.
    private var rows: [(name: String, targets: [String], isCompared: Bool)] {
        let objects = "/v1/realms/\(realm)/objects/Item"
        var random = SplitMix(5)
        let keys = (0..<997).map { _ in "\(objects)/\(random.next() % 100_000)" }
        return [
            ("GET one object by primary key", keys, true),
            ("list of 20", ["\(objects)?limit=20"], true),
            ("list of 500", ["\(objects)?limit=500"], true),
            ("city == 'Northburg', page of 20", ["\(objects)?where=city%20%3D%3D%20'Northburg'&limit=20"], true),
            ("age > 50, page of 20", ["\(objects)?where=age%20%3E%2050&limit=20"], false),
            ("by score, page of 20", ["\(objects)?sort=-score&limit=20"], false),
            ("age > 50 by score, page of 200", ["\(objects)?where=age%20%3E%2050&sort=score&limit=200"], false),
            ("age > 50, page of 20 with count", ["\(objects)?where=age%20%3E%2050&limit=20&count=exact"], false),
            (
                "name CONTAINS[c] 'an', by score, page of 20",
                ["\(objects)?where=name%20CONTAINS%5Bc%5D%20'an'&sort=-score&limit=20"], false
            ),
        ]
    }

    /// Measures one kind of request: the median of some rounds, each directly after a round
    /// with the bare daemon and bodies of the same size.
    ///
    /// - Parameters:
    ///   - targets: The request targets, which are used in turn.
    ///   - isCompared: Whether the bare daemon is measured as well.
    ///   - client: The client of the server.
    ///   - report: Receives the result, which is empty if a request fails.
    private func measure(
        _ name: String, _ targets: [String], isCompared: Bool, with client: LoadClient, _ report: inout Report
    ) throws {
        guard let body = try client.body(of: targets[0]) else { return report.add(name, .perSecond, nil) }
        let bare = isCompared ? try BareDaemon(bodyByteCount: body.count) : nil
        defer { bare?.stop() }
        var figures: [Double] = []
        var constants: [Double] = []
        for _ in 0..<Self.rounds {
            if let bare {
                let other = LoadClient(port: bare.port)
                guard let rate = try other.requestsPerSecond(["/"], seconds: Self.secondsPerRound) else { continue }
                constants.append(rate)
            }
            guard let rate = try client.requestsPerSecond(targets, seconds: Self.secondsPerRound) else { continue }
            figures.append(rate)
        }
        report.add(
            name, .perSecond, figures.isEmpty ? nil : median(figures),
            comparedWith: constants.isEmpty ? nil : median(constants), note: "\(body.count) bytes")
    }
}
