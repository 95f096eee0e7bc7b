// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// How soon after a commit somebody hears of it: in process, as the reference engine's figures are taken, and over HTTP
/// beside the answer of the write.
struct NotificationBenchmarks {
    private static let commits = 100

    private let path: String
    private let folder: ScratchFolder
    private let only: String?

    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

    func run(_ report: inout Report, _ baseline: Baseline?) throws {
        try latencies(&report, baseline?.allFigures ?? [:])
        try StreamLatencies(path, folder, only: only).run(&report)
        guard isWanted("broadcast") else { return }
        try BroadcastBenchmarks(folder).run(&report)
    }

    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

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

    private enum Write {
        /// Makes an object that is in the result.
        case matching
        /// Changes one that is not; then the time is that in which everybody was led over the commit.
        case unrelated
    }

    private func measure(
        _ name: String, _ path: String, where text: String?, _ write: Write, _ report: inout Report, fromAnswer: Double? = nil,
        fromStart: Double? = nil
    ) throws {
        guard isWanted(name) else { return }
        // Objects made before have other keys.
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

    private func commit(_ realm: WrittenRealm, _ write: Write) throws -> UInt64 {
        switch write {
        case .matching: return try realm.makeOne(age: 77)
        case .unrelated: return try realm.setScore(of: 0)
        }
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
