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
        let small = "\(folder.path)/heard.realm"
        try WrittenRealm(emptyAt: small, seed: 21).database.close()
        try measure(
            "all objects, small file", small, where: nil, .matching, &report,
            fromAnswer: figures["notifyAllObjectsSmallFileAfterCommitReturnMs"],
            fromStart: figures["notifyAllObjectsSmallFileFromCommitStartMs"])
        let large = try folder.copy(of: path, as: "heard-large")
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
        let ear = Ear()
        let attachment = try ear.attach(to: realm.database, text)
        defer { realm.database.observations.detach(attachment) }
        var afterAnswer: [Double] = []
        var afterStart: [Double] = []
        for number in 0..<(Self.commits + 10) {
            let start = Harness.now()
            let answered = try commit(realm, write)
            let heard = write == .matching ? ear.waitForEvent(number + 1) : ear.waitForRound(realm.database.current.token.version)
            guard number >= 10 else { continue }
            afterAnswer.append(max(0, Double(heard) - Double(answered)) / 1e6)
            afterStart.append(Double(heard - start) / 1e6)
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

/// Hears of one result.
private final class Ear: ObservationListener {
    private struct Heard {
        var events = 0
        var eventTime: UInt64 = 0
        var version: UInt64 = 0
        var roundTime: UInt64 = 0
        var attached: Attachment?
        var failure: String?
    }

    private let heard = Monitor(Heard())

    func attach(to database: Database, _ text: String?) throws -> Attachment {
        guard let table = database.current.snapshot.classTable(named: "Item") else {
            throw BenchmarkError.unsuitable("there is no class Item")
        }
        let query = try text.map { ObservedQuery(try Query.parse($0)) } ?? ObservedQuery()
        let target = ObservedTarget(.results(table.key, query), identity: text ?? "")
        _ = database.observations.onRound { [heard] round in
            heard.broadcast {
                $0.version = round.version.token.version
                $0.roundTime = Harness.now()
            }
        }
        database.observations.attach(target, self, isActive: true) { [heard] result in
            heard.broadcast { heard in
                switch result {
                case .success(let attached): heard.attached = attached.attachment
                case .failure(let error): heard.failure = "\(error)"
                }
            }
        }
        let isOver = heard.wait { $0.attached != nil || $0.failure != nil ? $0 : nil }
        guard let attachment = isOver?.attached else { throw BenchmarkError.unsuitable("the result is not observed") }
        return attachment
    }

    func didChange(_ event: ObservationEvent) {
        let time = Harness.now()
        heard.broadcast {
            $0.events += 1
            $0.eventTime = time
        }
    }

    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
    func didFail(_ error: ObservationError) {}

    /// The time of the event of this number.
    func waitForEvent(_ number: Int) -> UInt64 { heard.wait { $0.events >= number ? $0.eventTime : nil } ?? 0 }
    /// The time at which everybody was told of a version.
    func waitForRound(_ version: UInt64) -> UInt64 { heard.wait { $0.version >= version ? $0.roundTime : nil } ?? 0 }
}
