// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmReplica

/// Three servers, of which two have every record. The primary is lost while owners commit, and a standby takes its place.
@Suite(
    "A log that fails over",
    .enabled(if: PostgresServer.isPresent && ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] != nil))
struct LogFailoverTests {
    @Test(arguments: 0..<3) func `nothing that was acknowledged is lost with the primary`(round: Int) throws {
        let primary = try PostgresServer(["synchronous_standby_names=ANY 1 (s2,s3)"])
        let standbys = try ["s2", "s3"].map { try PostgresServer(standbyOf: primary, named: $0) }
        let setup = try primary.makeLog()
        var options = PostgresOptions(primary.address)
        options.requiresStandby = true
        let realms = (0..<6).map { "fail-\(round)-\($0)" }
        for realm in realms { try RawOwner.create(realm, setup) }
        let isEnding = SharedFlag()
        let done = realms.map { realm in
            let outcome = Awaited<[(version: UInt64, checksum: LogChecksum)]>()
            let log = PostgresLog(options)
            _ = try? Threads.start(realm) {
                var all: [(version: UInt64, checksum: LogChecksum)] = []
                while !isEnding.isSet {
                    var owner = RawOwner(realm, "n", log, seconds: 1)
                    guard case .claimed = owner.claim() else { continue }
                    while !isEnding.isSet, let outcome = try? owner.append(), outcome == .stored || outcome == .unavailable {}
                    all += owner.acknowledged
                }
                outcome.set(all)
            }
            return outcome
        }
        Threads.sleep(seconds: 2)
        primary.stop()
        let positions = try standbys.map { try $0.receivedPosition() }
        let heir = positions[0] >= positions[1] ? standbys[0] : standbys[1]
        let other = positions[0] >= positions[1] ? standbys[1] : standbys[0]
        // What the other one has is no more than this one has, so nothing is lost without it. It is not led to the new primary.
        other.stop()
        try heir.promote()
        // The new primary is alone: it is asked for no standby.
        var alone = PostgresOptions(heir.address)
        alone.requiresStandby = false
        let log = PostgresLog(alone)
        for realm in realms { #expect(eventually { RawOwner.isClaimable(realm, log) }) }
        isEnding.set()
        for (realm, outcome) in zip(realms, done) {
            let acknowledged = try outcome.wait()
            #expect(acknowledged.count > 10)
            var lost = 0
            for entry in acknowledged {
                let call = LogCall(realm: realm, owner: .nobody, request: .checksum(lineage: "lineage1", version: entry.version))
                if log.perform(call, until: .now().adding(seconds: 10)) != .checksum(entry.checksum) { lost += 1 }
            }
            #expect(lost == 0, "\(realm): \(lost) of \(acknowledged.count) lost")
            print("\(realm): \(acknowledged.count) acknowledged, \(lost) lost")
        }
        heir.stop()
    }
}

/// Whether something is to end.
final class SharedFlag: Sendable {
    private let flag = RankedMutex(.leaf, false)
    var isSet: Bool { flag.withLock { $0 } }
    func set() { flag.withLock { $0 = true } }
}
