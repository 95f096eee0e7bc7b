import Foundation
import Testing

@testable import RealmRest

@Suite struct Changes {
    /// Against the plain form of the rule: deletions from the end, insertions from the start, then modifications.
    @Test func aSetIsAppliedAsTheContractSays() throws {
        var draw = Draw()
        for _ in 0..<3000 {
            let old = (0..<Int.random(in: 0..<12, using: &draw)).map { "o\($0)" }
            let deletions = old.indices.filter { _ in Bool.random(using: &draw) }
            let count = Int.random(in: 0..<5, using: &draw)
            let size = old.count - deletions.count + count
            let insertions = Array((0..<size).shuffled(using: &draw).prefix(count)).sorted()
            var expected = old
            for index in deletions.reversed() { expected.remove(at: index) }
            for index in insertions { expected.insert("n\(index)", at: index) }
            var change = ChangeSet<String>()
            change.deletions = deletions
            change.insertions = insertions
            for index in insertions { change.rows[index] = "n\(index)" }
            #expect(try change.spliced(old) == expected, "seed \(seed)")
            var applied = old
            change.apply(to: &applied)
            #expect(applied == expected)
        }
    }

    @Test func aMoveIsADeletionAndAnInsertion() throws {
        let body = try JSON(
            parsing:
                #"{"from":"k.1","to":"k.2","count":4,"deletions":[{"index":3}],"insertions":[{"index":1,"value":"d"}],"modifications":[],"moves":[{"from":3,"to":1}]}"#
                .utf8)
        let change = try ChangeSet<String>(body, reading: row(String.self))
        var rows = ["a", "b", "c", "d"]
        change.apply(to: &rows)
        #expect(rows == ["a", "d", "b", "c"])
        #expect(change.moves == [.init(from: 3, to: 1)])
    }

    @Test(arguments: [([2], []), ([], [3]), ([0, 1], [1])])
    func whatDoesNotFitIsNoticed(deletions: [Int], insertions: [Int]) {
        var change = ChangeSet<String>()
        (change.deletions, change.insertions) = (deletions, insertions)
        for index in insertions { change.rows[index] = "x" }
        #expect(throws: Diverged.self) { try change.spliced(["a", "b"]) }
    }

    @Test func differencesLeadFromOneListToTheOther() {
        var draw = Draw()
        for _ in 0..<3000 {
            func rows() -> [String] {
                (0..<8).shuffled(using: &draw).prefix(Int.random(in: 0..<9, using: &draw)).map {
                    "\($0)\(["a", "b"].randomElement(using: &draw) ?? "")"
                }
            }
            let (old, new) = (rows(), rows())
            var mirror = old
            ChangeSet.between(old, new, key: { String($0.prefix(1)) }, isSame: ==).apply(to: &mirror)
            #expect(mirror == new, "seed \(seed)")
            mirror = old
            ChangeSet.replacing(old.count, by: new, version: nil).apply(to: &mirror)
            #expect(mirror == new)
        }
    }

    @Test func positions() {
        #expect(reached("a.10", "a.9"))
        #expect(!reached("a.9", "a.10"))
        #expect(!reached("b.10", "a.9"))
        #expect(!reached(nil, "a.9"))
    }
}

@Suite struct Feeds {
    @Test func whoFallsBehindGetsTheWhole() async throws {
        let queue = FeedQueue<Int>(bound: 4, whole: { -1 })
        for number in 0..<20 { queue.put(number) }
        queue.close()
        var taken: [Int] = []
        for try await change in ChangeFeed(queue: queue) { taken.append(change) }
        #expect(taken == [-1])
    }

    @Test func anErrorComesAfterWhatWasThere() async throws {
        let queue = FeedQueue<Int>(bound: 4, whole: { -1 })
        queue.put(1)
        queue.close(ConnectionLost("over"))
        #expect(try await queue.next() == 1)
        await #expect(throws: ConnectionLost.self) { try await queue.next() }
        #expect(try await queue.next() == nil)
    }

    @Test func aWaitingReaderCanBeCancelled() async throws {
        let queue = FeedQueue<Int>(bound: 4, whole: { -1 })
        let reader = Task { try await queue.next() }
        try await Task.sleep(for: .milliseconds(20))
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        queue.put(7)
        #expect(try await queue.next() == 7)
    }
}

/// The life of one subscription as its channel tells it.
@Suite struct Subscriptions {
    private func core() -> LiveCore<[String], ChangeSet<String>> {
        LiveCore(definition: .null, kind: .list(reading: row(String.self)), bound: 16)
    }

    private func snapshot(_ values: String..., version: String) -> JSON {
        ["version": .string(version), "items": .array(values.map { ["value": .string($0)] }), "last": true]
    }

    private func set(from: String, to: String, count: Int, inserting value: String) -> JSON {
        [
            "from": .string(from), "to": .string(to), "count": .number(String(count)), "deletions": [], "modifications": [],
            "insertions": [["index": 0, "value": .string(value)]],
        ]
    }

    @Test func setsFollowEachOther() throws {
        let core = core()
        try core.take(snapshot: [snapshot("b", version: "k.1")])
        core.advance(to: "k.1", quietly: false)
        try core.take(changes: set(from: "k.1", to: "k.2", count: 2, inserting: "a"))
        #expect(core.view == ["a", "b"])
        // A repetition is passed over, and a gap noticed.
        try core.take(changes: set(from: "k.1", to: "k.2", count: 2, inserting: "a"))
        #expect(core.view == ["a", "b"])
        #expect(throws: Diverged.self) { try core.take(changes: set(from: "k.3", to: "k.4", count: 3, inserting: "x")) }
        #expect(throws: Diverged.self) { try core.take(changes: set(from: "k.2", to: "k.4", count: 7, inserting: "x")) }
    }

    @Test func aPositionThatOnlyTheClientKnowsDoesNotBreakTheChain() throws {
        let core = core()
        try core.take(snapshot: [snapshot("b", version: "k.1")])
        core.advance(to: "k.1", quietly: false)
        core.advance(to: "k.5", quietly: true)
        #expect(core.status.version == "k.5")
        try core.take(changes: set(from: "k.1", to: "k.6", count: 2, inserting: "a"))
        #expect(core.view == ["a", "b"])
    }

    @Test func aResetReplacesEverything() async throws {
        let core = core()
        try core.take(snapshot: [snapshot("a", version: "k.1")])
        let feed = core.feed()
        try core.take(snapshot: [snapshot("b", "c", version: "m.7")])
        var mirror = ["a"]
        try await feed.queue.next()?.apply(to: &mirror)
        #expect(mirror == ["b", "c"])
        #expect(core.status.resets == 1)
    }
}
