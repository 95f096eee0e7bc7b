// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Measures durable writes over loopback: with one client that waits for each response, with 32 of them, and imports.
struct WriteHTTPBenchmarks {
    /// The number of rounds, of which the median is reported.
    private static let rounds = 5
    /// The duration of a round in seconds.
    private static let secondsPerRound = 0.6
    /// The number of operations in one batch of deletions.
    private static let deletionCount = 100

    /// The folder for copies and new files.
    private let folder: ScratchFolder
    /// The path of the measured file, of which a copy is written.
    private let path: String
    /// The text that the names of measurements must contain; nil measures all.
    private let only: String?
    /// The number of objects of an import.
    private let importCount: Int

    /// Prepares the benchmark.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - folder: The folder for copies and new files.
    ///   - only: The text that the names of measurements must contain; nil measures all.
    ///   - importCount: The number of objects of an import.
    init(_ path: String, _ folder: ScratchFolder, only: String?, importCount: Int) {
        self.path = path
        self.folder = folder
        self.only = only
        self.importCount = importCount
    }

    /// Measures writes to a copy of the file, writes to a small file, and imports.
    ///
    /// - Parameters:
    ///   - report: Receives the results.
    ///   - baseline: The results to compare with.
    func run(_ report: inout Report, _ baseline: Baseline?) throws {
        try runLarge(&report, baseline)
        try runSmall(&report, baseline)
        try runImports(&report)
    }

    /// Measures the requests that write to a copy of the measured file.
    private func runLarge(_ report: inout Report, _ baseline: Baseline?) throws {
        try withServer(try folder.copy(of: path, as: "served")) { server in
            let count = try objectCount(server)
            let figures = baseline?.figures(forObjects: count) ?? [:]
            report.begin("durable writes over HTTP, \(count) objects", comparedWith: figures.isEmpty ? "" : "reference")
            try rates("POST one object", comparedWith: figures["singleInsertTransactionsPerSecondDurable"], of: server, &report) {
                WriteHTTPBenchmarks.post(server, $0)
            }
            try rates("PATCH one object", comparedWith: figures["singleUpdateTransactionsPerSecondDurable"], of: server, &report)
            {
                WriteHTTPBenchmarks.patch(server, $0, among: max(count, 1))
            }
            try rates("JSON Patch of 20 edits", comparedWith: nil, of: server, &report) {
                WriteHTTPBenchmarks.jsonPatch(server, $0, among: max(count, 1))
            }
            try batches(figures["batch1000ObjectsPerSecondDurable"], server, &report)
            try deletions(server, &report)
        }
    }

    /// Measures the creation of objects in a small file.
    private func runSmall(_ report: inout Report, _ baseline: Baseline?) throws {
        let name = "\(folder.path)/tiny.realm"
        let realm = try WrittenRealm(emptyAt: name, seed: 3)
        _ = try realm.make(1, perCommit: 1000, commits: 1)
        realm.database.close()
        try withServer(name) { server in
            let other = baseline?.allFigures["singleInsertTransactionsPerSecondDurableSmallFile"]
            try rates("POST one object, small file", comparedWith: other, of: server, &report) {
                WriteHTTPBenchmarks.post(server, $0)
            }
        }
    }

    // MARK: - Requests

    /// A running server, the name of its realm and its TCP port.
    private typealias Served = (server: RealmServer, realm: String, port: Int)

    /// Starts a server for a file, and stops it after `body`.
    ///
    /// - Parameters:
    ///   - path: The file, which is written.
    ///   - body: The measurements.
    private func withServer(_ path: String, _ body: (Served) throws -> Void) throws {
        var options = ServerOptions()
        options.port = 0
        options.paths = [path]
        options.logFormat = nil
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop(isUrgent: { true }) }
        let name = path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
        try body((server, name, server.daemon.socket.port))
    }

    /// Returns the number of objects of the class `Item`.
    private func objectCount(_ served: Served) throws -> Int {
        guard case .ready(let database)? = served.server.state.catalog[served.realm] else {
            throw BenchmarkError.unsuitable("the realm is not served")
        }
        return database.current.snapshot.classTable(named: "Item")?.count ?? 0
    }

    /// Returns the bytes of a request with a body.
    ///
    /// - Parameters:
    ///   - path: The path below that of the realm.
    ///   - type: The media type of the body.
    private static func request(_ method: String, _ path: String, _ served: Served, type: String, _ body: String) -> [UInt8] {
        Array(
            ("\(method) /v1/realms/\(served.realm)/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n"
                + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }

    /// Returns a request that creates an object; the number determines its key and values.
    private static func post(_ served: Served, _ number: Int) -> [UInt8] {
        var rows = ItemRows(UInt64(number))
        return request("POST", "objects/Item", served, type: "application/json", rows.json(id: 1_500_000_000 + number))
    }

    /// Returns a merge patch of one property of a random object.
    ///
    /// - Parameters:
    ///   - number: Determines the object and the value.
    ///   - count: The number of objects to choose from.
    private static func patch(_ served: Served, _ number: Int, among count: Int) -> [UInt8] {
        var random = SplitMix(UInt64(number))
        let id = Int(random.next() % UInt64(count))
        return request(
            "PATCH", "objects/Item/\(id)", served, type: "application/merge-patch+json",
            "{\"score\":\(Double(random.next() >> 11) / 1e12)}")
    }

    /// Returns a JSON Patch with 20 operations for a random object.
    ///
    /// - Parameters:
    ///   - number: Determines the object and the values.
    ///   - count: The number of objects to choose from.
    private static func jsonPatch(_ served: Served, _ number: Int, among count: Int) -> [UInt8] {
        var random = SplitMix(UInt64(number))
        let id = Int(random.next() % UInt64(count))
        let edits = (0..<20).map { _ in
            "{\"op\":\"replace\",\"path\":\"/score\",\"value\":\(Double(random.next() >> 11) / 1e12)}"
        }
        return request(
            "PATCH", "objects/Item/\(id)", served, type: "application/json-patch+json", "[" + edits.joined(separator: ",") + "]")
    }

    /// Returns a request that creates 1,000 objects; the number determines their keys and values.
    private static func batch(_ served: Served, _ number: Int) -> [UInt8] {
        var rows = ItemRows(UInt64(number))
        let objects = (0..<1000).map { rows.json(id: 1_000_000_000 + number * 1000 + $0) }
        return request("POST", "objects/Item", served, type: "application/json", "[" + objects.joined(separator: ",") + "]")
    }

    // MARK: - Figures

    /// Measures the rates of one client and of 32 clients in turns, so that both meet the same conditions of the disk.
    ///
    /// - Parameters:
    ///   - other: The result of another engine for one client.
    ///   - report: Receives both results.
    ///   - request: Returns the bytes of the request with a number.
    private func rates(
        _ name: String, comparedWith other: Double?, of served: Served, _ report: inout Report,
        _ request: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        guard isWanted(name) else { return }
        let one = LoadClient(port: served.port, threads: 1, connectionsPerThread: 1)
        let many = LoadClient(port: served.port, threads: 2, connectionsPerThread: 16)
        let numbers = Counter()
        var figures: [Double] = []
        var group: [Double] = []
        for round in 0...Self.rounds {
            let first = try one.requestsPerSecond(seconds: Self.secondsPerRound) { request(numbers.next()) }
            let second = try many.requestsPerSecond(seconds: Self.secondsPerRound) { request(numbers.next()) }
            guard let first, let second else { return report.add(name, .perSecond, nil) }
            if round > 0 { (figures, group) = (figures + [first], group + [second]) }
        }
        let (alone, together) = (median(figures), median(group))
        report.add(name + " per commit", .perSecond, alone, comparedWith: other)
        report.add(
            name + ", 32 clients", .perSecond, together,
            note: "\(fixed(together / alone, decimals: 1, width: 0)) times one client")
    }

    /// Measures requests that create 1,000 objects each; the result is the number of objects per second.
    private func batches(_ other: Double?, _ served: Served, _ report: inout Report) throws {
        let name = "POST 1,000 objects, objects"
        guard isWanted(name) else { return }
        let client = LoadClient(port: served.port, threads: 1, connectionsPerThread: 1)
        let numbers = Counter()
        // The requests are made before the measurement, as another program would have them
        // ready.
        let prepared = (0..<100).map { WriteHTTPBenchmarks.batch(served, $0) }
        var figures: [Double] = []
        for _ in 0..<Self.rounds {
            let begin = Harness.now()
            guard try client.requests(prepared.count / Self.rounds, { prepared[numbers.next()] }) else {
                return report.add(name, .perSecond, nil)
            }
            figures.append(Double(prepared.count / Self.rounds * 1000) / (Double(Harness.now() - begin) / 1e9))
        }
        report.add(name, .perSecond, median(figures), comparedWith: other)
    }

    /// Measures batches of `deletionCount` operations, each of which deletes one object by its key.
    private func deletions(_ served: Served, _ report: inout Report) throws {
        let name = "batch of \(Self.deletionCount) deletes, objects"
        guard isWanted(name) else { return }
        let client = LoadClient(port: served.port, threads: 1, connectionsPerThread: 1)
        // The deleted objects have separate keys, and are created before the measurement.
        let first = 1_900_000_000
        let batchesPerRound = 20
        let total = Self.rounds * batchesPerRound * Self.deletionCount
        let creations = stride(from: 0, to: total, by: 1000).map { start -> [UInt8] in
            var rows = ItemRows(UInt64(start))
            let objects = (start..<min(start + 1000, total)).map { rows.json(id: first + $0) }
            return Self.request(
                "POST", "objects/Item", served, type: "application/json", "[" + objects.joined(separator: ",") + "]")
        }
        let created = Counter()
        guard try client.requests(creations.count, { creations[created.next()] }) else {
            return report.add(name, .perSecond, nil)
        }
        let prepared = stride(from: 0, to: total, by: Self.deletionCount).map { start -> [UInt8] in
            let operations = (0..<Self.deletionCount).map {
                "{\"delete\":{\"class\":\"Item\",\"key\":\"\(first + start + $0)\"}}"
            }
            let body = "{\"ops\":[" + operations.joined(separator: ",") + "]}"
            return Self.request("POST", "batch", served, type: "application/json", body)
        }
        let numbers = Counter()
        var figures: [Double] = []
        for _ in 0..<Self.rounds {
            let begin = Harness.now()
            guard try client.requests(batchesPerRound, { prepared[numbers.next()] }) else {
                return report.add(name, .perSecond, nil)
            }
            figures.append(Double(batchesPerRound * Self.deletionCount) / (Double(Harness.now() - begin) / 1e9))
        }
        report.add(name, .perSecond, median(figures))
    }

    /// Measures imports as a unit and in several commits: their rate, and the largest memory of the server.
    private func runImports(_ report: inout Report) throws {
        for (name, query) in [("in one commit", ""), ("in several commits", "&atomic=false")] {
            let title = "import of \(importCount) objects \(name)"
            guard isWanted(title), importCount > 0 else { continue }
            let path = "\(folder.path)/import.realm"
            try WrittenRealm(emptyAt: path, seed: 1).database.close()
            defer { unsafe unlink(path) }
            try withServer(path) { served in
                ProcessMemory.resetPeak()
                let before = ProcessMemory.peakMiB
                let client = ImportClient(port: served.port, realm: served.realm)
                let begin = Harness.now()
                guard try client.send(importCount, query: "class=Item" + query) else { return report.add(title, .perSecond, nil) }
                let seconds = Double(Harness.now() - begin) / 1e9
                report.add(
                    title, .perSecond, Double(importCount) / seconds,
                    note:
                        "\(fixed(seconds, decimals: 1, width: 0)) s; resident memory \(before) -> \(ProcessMemory.peakMiB) MiB at most"
                )
            }
        }
    }

    /// Returns whether a measurement is selected by the options.
    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }
}
