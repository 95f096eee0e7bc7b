// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures how soon after a commit an observer receives its event.
///
/// In process, the times are taken as those of the reference engine are; over HTTP, they start with the response of the write.
struct NotificationBenchmarks {
    /// The number of measured commits, after ten that warm up.
    private static let commits = 100

    /// The path of the measured file, of which copies are written.
    private let path: String
    /// The folder for copies and new files.
    private let folder: ScratchFolder
    /// The text that the names of measurements must contain; nil measures all.
    private let only: String?

    /// Prepares the benchmark.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - folder: The folder for copies and new files.
    ///   - only: The text that the names of measurements must contain; nil measures all.
    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

    /// Measures observers in process, streams over HTTP, many queries and many streams.
    ///
    /// - Parameters:
    ///   - report: Receives the results.
    ///   - baseline: The results to compare with.
    func run(_ report: inout Report, _ baseline: Baseline?) throws {
        try latencies(&report, baseline?.allFigures ?? [:])
        try StreamLatencies(path, folder, only: only).run(&report)
        try QueryCrowdBenchmarks(folder, isWanted: isWanted).run(&report)
        guard isWanted("broadcast") else { return }
        try BroadcastBenchmarks(folder).run(&report)
    }

    /// Returns whether a measurement is selected by the options.
    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    /// Measures the latencies of observers in process, for small and large files and several results.
    private func latencies(_ report: inout Report, _ figures: [String: Double]) throws {
        report.begin("from a durable commit to its event", comparedWith: figures.isEmpty ? "" : "reference")
        let small = "\(folder.path)/received.realm"
        try WrittenRealm(emptyAt: small, seed: 21).database.close()
        try measure(
            "all objects, small file", small, where: nil, .matching, &report,
            fromAnswer: figures["notifyAllObjectsSmallFileAfterCommitReturnMs"],
            fromStart: figures["notifyAllObjectsSmallFileFromCommitStartMs"])
        let large = try folder.copy(of: path, as: "received-large")
        try measure(
            "age == 77, large file", large, where: "age == 77", .matching, &report,
            fromAnswer: figures["notifyQueryOnLargeFileAfterCommitReturnMs"],
            fromStart: figures["notifyQueryOnLargeFileFromCommitStartMs"])
        try measure("the same, unrelated object", large, where: "age == 77", .unrelated, &report)
        try measure("age == 77 by score, large file", large, where: "age == 77 SORT(score DESC)", .matching, &report)
        try measure("all objects, large file", large, where: nil, .matching, &report)
    }

    /// The kinds of commits that are measured.
    private enum Write {
        /// Creates an object that belongs to the observed result.
        case matching
        /// The commit changes an object that does not; the measured time ends when all observers were advanced over it.
        case unrelated
    }

    /// Measures the latency of one observer.
    ///
    /// - Parameters:
    ///   - path: The file that is written.
    ///   - text: The query of the observed result; nil for all objects.
    ///   - write: The change of each commit.
    ///   - report: Receives two results: from the response of the write, and from its start.
    ///   - fromAnswer: The first result of the other engine.
    ///   - fromStart: The second result of the other engine.
    private func measure(
        _ name: String, _ path: String, where text: String?, _ write: Write, _ report: inout Report, fromAnswer: Double? = nil,
        fromStart: Double? = nil
    ) throws {
        guard isWanted(name) else { return }
        // Objects of earlier measurements have other keys.
        let realm = try WrittenRealm(path, seed: UInt64(100 + report.rowCount))
        defer { realm.database.close() }
        let listener = ResultListener()
        let attachment = try listener.attach(to: realm.database, text)
        defer { realm.database.observations.detach(attachment) }
        var afterAnswer: [Double] = []
        var afterStart: [Double] = []
        for number in 0..<(Self.commits + 10) {
            let start = Harness.now()
            let answered = try commit(realm, write)
            let received =
                write == .matching
                ? listener.waitForEvent(number + 1) : listener.waitForRound(realm.database.current.token.version)
            guard number >= 10 else { continue }
            afterAnswer.append(max(0, Double(received) - Double(answered)) / 1e6)
            afterStart.append(Double(received - start) / 1e6)
        }
        report.add(name, .milliseconds, median(afterAnswer), comparedWith: fromAnswer, note: "after the writer's answer")
        report.add("", .milliseconds, median(afterStart), comparedWith: fromStart, note: "after the write began")
    }

    /// Makes one commit; returns the monotonic time of its response in nanoseconds.
    private func commit(_ realm: WrittenRealm, _ write: Write) throws -> UInt64 {
        switch write {
        case .matching: return try realm.makeOne(age: 77)
        case .unrelated: return try realm.setScore(of: 0)
        }
    }
}
