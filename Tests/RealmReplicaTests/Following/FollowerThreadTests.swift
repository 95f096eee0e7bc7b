// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmEngine
@testable import RealmReplica

/// Followers with their threads, while others read and wait.
@Suite("Followers while others read")
struct FollowerThreadTests {
    /// Every commit gives all dogs the same name, so a version in which two differ was torn.
    private static func names(_ snapshot: Snapshot) throws -> Set<String> {
        guard let table = snapshot.classTable(named: "Dog"), let column = table.column(named: "name") else { return [] }
        var names: Set<String> = []
        for index in 0..<table.count {
            guard let row = try table.objects.row(at: index), case .string(let bytes) = try row.value(column) else { continue }
            names.insert(bytes.string)
        }
        return names
    }

    /// Readers scan versions that they hold for different times, at once and again; the owner keeps nothing for them.
    @Test(arguments: TestRun.seeds(quick: 2, long: 20))
    func `every version is whole for as long as it is held`(seed: UInt64) throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("whole", log, grace: 0)
        try owned.add(1...60)
        var limits = FollowerLimits()
        (limits.patienceSeconds, limits.graceSeconds, limits.pollSeconds) = (0.01, 0, 0.003)
        limits.formerFileCount = 8
        let follower = LogFollower(log, node: "n2", limits)
        let folder = try TemporaryRealm()
        let followed = try FollowedLogRealm.open(Replica.opening(owned.name, folder.path), follower)
        let isOver = Atomic(false)
        let scans = Atomic(0)
        let problems = Mutex<[String]>([])
        let readers = DispatchGroup()
        for reader in 0..<3 {
            Thread.detachNewThread {
                var random = SeededGenerator(seed: seed &* 31 &+ UInt64(reader))
                while !isOver.load(ordering: .acquiring) {
                    let version = followed.database.current
                    let first = try? FollowerThreadTests.names(version.snapshot)
                    Thread.sleep(forTimeInterval: Double.random(in: 0...0.05, using: &random))
                    let second = try? FollowerThreadTests.names(version.snapshot)
                    let isWhole = first == second && (first?.count ?? 9) == (version.token.version > 62 ? 1 : first?.count)
                    if !isWhole { problems.withLock { $0.append("\(version.tokenText): \(first ?? []), \(second ?? [])") } }
                    scans.add(1, ordering: .relaxed)
                }
                readers.leave()
            }
            readers.enter()
        }
        for round in 0..<(TestRun.isLong ? 400 : 60) {
            try owned.realm.write { session in
                for id in Int64(1)...60 {
                    try session.setProperty("Dog", .primaryKey(.integer(id)), "name", .text("round \(round)"))
                }
            }
            if round % 10 == 0 {
                #expect(followed.linear(until: .now().adding(seconds: 120)), "seed \(seed), round \(round)")
            }
        }
        #expect(followed.wait(for: owned.snapshot.version, until: .now().adding(seconds: 120)), "seed \(seed)")
        isOver.store(true, ordering: .releasing)
        #expect(readers.wait(timeout: .now() + 60) == .success)
        #expect(problems.withLock { $0 }.isEmpty, "seed \(seed): \(problems.withLock { $0 })")
        #expect(scans.load(ordering: .relaxed) > 10 && followed.counts.rebuilds == 0, "seed \(seed): \(followed.counts)")
        #expect(try RecordDifference.isEqual(owned.snapshot, followed.database.current.snapshot), "seed \(seed)")
        followed.close()
        follower.stop()
        try owned.finish()
    }

    /// What is observed goes on over a move of the owner: each change is told once.
    @Test func `observers are told each change once while the realm changes its owner`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("observed", log)
        let follower = LogFollower(log, node: "n2")
        let folder = try TemporaryRealm()
        let followed = try FollowedLogRealm.open(Replica.opening(owned.name, folder.path), follower)
        let listener = Listener()
        let attached = Awaited<Bool>()
        followed.database.observations.attach(
            ObservedTarget(.realm, identity: "realm"), listener, isActive: true
        ) { result in attached.set((try? result.get()) != nil) }
        #expect(try attached.wait())
        try owned.add(1...5)
        #expect(followed.wait(for: owned.snapshot.version, until: .now().adding(seconds: 60)))
        let away = try owned.logged.demote(to: follower)
        let promoted = try followed.promote(node: "n2")
        let realm = EngineRealm(promoted.database)
        for id in Int64(6)...9 {
            try realm.write { session in _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex")]) }
        }
        let back = try promoted.demote(to: follower)
        let again = try away.promote(node: "n1")
        try EngineRealm(again.database).write { session in
            _ = try session.create("Dog", ["id": .integer(10), "name": .text("Rex")])
        }
        let last = again.database.current.token.version
        #expect(back.wait(for: last, until: .now().adding(seconds: 60)))
        #expect(eventually { listener.versions.last == last })
        let versions = listener.versions
        #expect(versions == versions.sorted() && Set(versions).count == versions.count && !versions.isEmpty)
        back.close()
        again.close()
        follower.stop()
    }

    private final class Listener: ObservationListener {
        private let seen = Mutex<[UInt64]>([])
        var versions: [UInt64] { seen.withLock { $0 } }
        func didChange(_ event: ObservationEvent) { seen.withLock { $0.append(event.to.token.version) } }
        func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
        func didFail(_ error: ObservationError) { seen.withLock { $0.append(0) } }
    }

    @Test func `too many who wait are refused, and those of a closed realm are told`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("waiting", log)
        var limits = FollowerLimits()
        limits.waiterCount = 3
        let replica = try Replica("waiting", log, limits)
        let answers = Replica.Recorded<Bool>()
        for _ in 0..<4 { replica.followed.whenReached(1000, until: .distantFuture) { answers.add($0) } }
        #expect(answers.all == [false])
        replica.followed.whenReached(1, until: .distantFuture) { answers.add($0) }
        #expect(answers.all == [false, true])
        try replica.finish()
        #expect(answers.all == [false, true, false, false, false])
        try owned.finish()
    }

    @Test func `a linear read asks the log after it began`() throws {
        let log = MemoryLog()
        let owned = try OwnedRealm("linear", log)
        let replica = try Replica("linear", log)
        let answers = Replica.Recorded<Bool>()
        replica.clock.advance(1)
        replica.followed.whenLinear(until: .distantFuture) { answers.add($0) }
        try owned.add(1...3)
        #expect(answers.all.isEmpty)
        replica.follower.poll()
        #expect(answers.all == [true] && replica.followed.version == owned.snapshot.version)
        // One that began after the log was asked needs another look.
        replica.clock.advance(1)
        replica.followed.whenLinear(until: .distantFuture) { answers.add($0) }
        #expect(answers.all == [true])
        replica.follower.poll()
        #expect(answers.all == [true, true])
        try replica.finish()
        try owned.finish()
    }
}
