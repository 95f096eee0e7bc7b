// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmReplica

/// Claims against owners that are in full swing, in a real server: nothing is ever acknowledged behind a claim.
@Suite("The fence", .enabled(if: PostgresServer.isPresent))
struct FenceTests {
    static let rounds = ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] == nil ? 300 : 10_000

    /// Appends until another one has claimed the realm; returns everything that was acknowledged.
    private static func appendUntilFenced(_ owner: RawOwner) -> [(version: UInt64, checksum: LogChecksum)] {
        var owner = owner
        while let outcome = try? owner.append(byteCount: 500), outcome == .stored {}
        return owner.acknowledged
    }

    @Test(arguments: [false, true]) func `claims against a live owner`(isPruned: Bool) throws {
        let server = try PostgresServer.shared.get()
        let log = try server.makeLog()
        let other = PostgresLog(PostgresOptions(server.address))
        let realm = "fence-\(isPruned)"
        try RawOwner.create(realm, log)
        var known: [UInt64: LogChecksum] = [:]
        var doubles = 0
        var behind = 0
        for round in 0..<FenceTests.rounds / 2 {
            var old = RawOwner(realm, "old", log)
            guard case .claimed = old.claim() else { throw PostgresServer.Failure(description: "no claim in round \(round)") }
            let appends = Awaited<[(version: UInt64, checksum: LogChecksum)]>()
            let started = old
            try Threads.start("owner") { appends.set(FenceTests.appendUntilFenced(started)) }
            if round % 3 == 0 { Threads.sleep(seconds: 0.003) }
            var new = RawOwner(realm, "new", other)
            guard case .claimed(let head) = new.claim() else {
                throw PostgresServer.Failure(description: "no claim in round \(round)")
            }
            if isPruned { try other.prune(realm, lineage: "lineage1", upTo: head.version) }
            for _ in 0..<2 { #expect(try new.append() == .stored, "round \(round)") }
            for entry in try appends.wait() + new.acknowledged {
                if known.updateValue(entry.checksum, forKey: entry.version) != nil { doubles += 1 }
            }
            behind += try appends.wait().count { $0.version > head.version }
        }
        #expect(doubles == 0 && behind == 0)
        #expect(Set(known.keys) == Set(2...UInt64(known.count + 1)), "a version is missing")
        print("fence, pruned \(isPruned): \(FenceTests.rounds / 2) claims, \(known.count) acknowledged, \(doubles) double")
    }

    @Test func `claim against claim`() throws {
        let server = try PostgresServer.shared.get()
        let logs = [try server.makeLog(), PostgresLog(PostgresOptions(server.address))]
        try RawOwner.create("claims", logs[0])
        var version: UInt64 = 1
        for round in 0..<FenceTests.rounds {
            let stored = logs.enumerated().map { index, log in
                let outcome = Awaited<Bool>()
                _ = try? Threads.start("claim") {
                    var owner = RawOwner("claims", "n\(index)", log)
                    guard case .claimed = owner.claim() else { return outcome.set(false) }
                    outcome.set((try? owner.append()) == .stored)
                }
                return outcome
            }
            let count = try stored.count { try $0.wait() }
            version += UInt64(count)
            guard
                case .head(let head?) = logs[0].perform(
                    LogCall(realm: "claims", owner: .unowned, request: .head), until: .now().adding(seconds: 10))
            else { throw PostgresServer.Failure(description: "no head") }
            #expect(count >= 1 && head.version == version, "round \(round): \(count) stored")
        }
    }

    @Test func `a released realm is claimed, and the one that released it appends nothing`() throws {
        let log = try PostgresServer.shared.get().makeLog()
        try RawOwner.create("released", log)
        var first = RawOwner("released", "a", log)
        guard case .claimed = first.claim() else { throw PostgresServer.Failure(description: "no claim") }
        var driver = first.driver
        #expect(driver.run(.release, until: .now().adding(seconds: 5)) == .released)
        guard case .fenced(let head) = try first.append() else { throw PostgresServer.Failure(description: "not fenced") }
        #expect(head.owner == .unowned && head.version == 1)
        var second = RawOwner("released", "b", log)
        guard case .claimed = second.claim() else { throw PostgresServer.Failure(description: "no claim") }
        #expect(try second.append() == .stored)
    }

    @Test func `many realms that append at once share round trips`() throws {
        let log = try PostgresServer.shared.get().makeLog()
        let realms = (0..<40).map { "many-\($0)" }
        for realm in realms { try RawOwner.create(realm, log) }
        let done = realms.map { realm in
            let outcome = Awaited<Int>()
            _ = try? Threads.start(realm, stackBytes: 1 << 20) {
                var owner = RawOwner(realm, "n", log, seconds: 30)
                _ = owner.claim()
                for _ in 0..<20 { _ = try? owner.append() }
                outcome.set(owner.acknowledged.count)
            }
            return outcome
        }
        for outcome in done { #expect(try outcome.wait() == 20) }
    }
}
