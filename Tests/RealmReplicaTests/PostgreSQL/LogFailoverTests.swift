// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
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
        let direct = PostgresLog(options)
        try direct.prepare()
        let proxy = try LogProxy(to: primary.folder)
        let realms = (0..<6).map { "fail-\(round)-\($0)" }
        for realm in realms { try RawOwner.create(realm, setup) }
        let progress = Progress()
        let done = realms.map { realm in
            let outcome = Awaited<[(version: UInt64, checksum: LogChecksum)]>()
            let log = PostgresLog(PostgresOptions(PostgresServer.address(proxy.folder)))
            _ = try? Threads.start(realm) { outcome.set(progress.appendAll(realm, log)) }
            return outcome
        }
        #expect(eventually { progress.count > 200 })
        primary.stop()
        let positions = try standbys.map { try $0.receivedPosition() }
        let (heir, other) = positions[0] >= positions[1] ? (standbys[0], standbys[1]) : (standbys[1], standbys[0])
        // What the other one has is no more than this one has. It would not follow the new primary by itself.
        other.stop()
        let before = progress.count
        try heir.promote()
        proxy.lead(to: heir.folder)
        #expect(eventually { progress.count > before + 200 })
        progress.end()
        let log = try heir.makeLog()
        for (realm, outcome) in zip(realms, done) {
            let acknowledged = try outcome.wait()
            var lost = 0
            for entry in acknowledged {
                let call = LogCall(realm: realm, owner: .unowned, request: .checksum(lineage: "lineage1", version: entry.version))
                if log.perform(call, until: .now().adding(seconds: 10)) != .checksum(entry.checksum) { lost += 1 }
            }
            #expect(lost == 0, "\(realm): \(lost) of \(acknowledged.count) lost")
            print("\(realm): \(acknowledged.count) acknowledged, \(lost) lost")
        }
        heir.stop()
    }
}

/// What owners have done so far, and whether they are to end.
private final class Progress: Sendable {
    private let state = RankedMutex(.leaf, (count: 0, isEnding: false))
    var count: Int { state.withLock { $0.count } }
    private var isEnding: Bool { state.withLock { $0.isEnding } }
    func end() { state.withLock { $0.isEnding = true } }

    /// Owns a realm again and again, and appends until the end; returns what was acknowledged.
    func appendAll(_ realm: String, _ log: PostgresLog) -> [(version: UInt64, checksum: LogChecksum)] {
        var all: [(version: UInt64, checksum: LogChecksum)] = []
        while !isEnding {
            var owner = RawOwner(realm, "n", log, seconds: 1)
            guard case .claimed = owner.claim() else { continue }
            while !isEnding, let outcome = try? owner.append(), outcome == .stored || outcome == .unavailable {
                if outcome == .stored { state.withLock { $0.count += 1 } }
            }
            all += owner.acknowledged
        }
        return all
    }
}
