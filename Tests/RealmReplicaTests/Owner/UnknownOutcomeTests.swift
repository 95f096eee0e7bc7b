// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmReplica

/// A log whose answers are lost at any byte, and requests too: each write happens once or not at all, and what is said of it is so.
@Suite("Unknown outcomes", .enabled(if: PostgresServer.isPresent))
struct UnknownOutcomeTests {
    private static let isLong = ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] != nil

    /// A realm whose log is behind a proxy.
    private struct Behind {
        let server: PostgresServer
        let proxy: LogProxy
        let owned: OwnedRealm

        init(_ name: String, seconds: Double = 20) throws {
            server = try PostgresServer.shared.get()
            proxy = try LogProxy(to: server.folder)
            var limits = RealmOwner.Limits()
            limits.appendSeconds = seconds
            owned = try OwnedRealm(name, try server.makeLog(PostgresServer.address(proxy.folder)), limits: limits)
        }
    }

    /// The number of records in the log, all of which are in one chain.
    private static func records(of owned: OwnedRealm, _ log: PostgresLog) throws -> Int {
        let head = try owned.head
        let base = try #require(try log.bases(of: owned.name.text).last)
        var chain = base.chain(of: owned.name.text)
        var count = 0
        try log.records(of: owned.name.text, lineage: head.lineage, versions: 1...head.version) { bytes throws(StorageError) in
            var position = 0
            _ = try chain.open(bytes, at: &position)
            count += 1
        }
        #expect(chain.checksum == head.checksum.bytes)
        return count
    }

    @Test(arguments: ["answers", "requests"]) func `a connection that is cut at any byte`(direction: String) throws {
        let behind = try Behind("cut-\(direction)")
        let owned = behind.owned
        let direct = try behind.server.makeLog()
        // What is exchanged for one write, so that cuts are spread over it.
        try owned.add(1...2)
        let before = try UnknownOutcomeTests.records(of: owned, direct)
        let span = direction == "answers" ? 140 : 3000
        let count = UnknownOutcomeTests.isLong ? span : 70
        var id: Int64 = 2
        for round in 0..<count {
            let place = round * span / count
            behind.proxy.set(direction == "answers" ? .cutAnswers(after: place) : .cutRequests(after: place))
            id += 1
            try owned.add(id...id)
        }
        behind.proxy.set(.pass)
        #expect(behind.proxy.cuts > count / 2, "\(behind.proxy.cuts) cuts")
        #expect(try UnknownOutcomeTests.records(of: owned, direct) == before + count)
        #expect(owned.realm.count("Dog") == count + 2)
        print("\(direction) cut: \(behind.proxy.cuts) of \(count) writes, each is there once")
        let other = try OwnedRealm(owned.name.text, direct, node: "n2")
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try other.finish()
        try owned.finish()
    }

    /// The connection is cut, and the log cannot be reached afterwards: the outcome stays open until the realm is opened again.
    @Test(arguments: ["answers", "requests"]) func `a log that stays away`(direction: String) throws {
        let behind = try Behind("away-\(direction)", seconds: 2)
        let owned = behind.owned
        let direct = try behind.server.makeLog()
        var id: Int64 = 0
        var outcomes: [String: Int] = [:]
        for round in 0..<(UnknownOutcomeTests.isLong ? 150 : 8) {
            id += 1
            try owned.add(id...id)
            let cut = direction == "answers" ? round * 17 % 140 : round * 370 % 3000
            behind.proxy.cutAndRefuse(isAnswer: direction == "answers", after: cut)
            id += 1
            let failure = owned.failure(adding: id)
            behind.proxy.set(.pass)
            switch failure {
            case nil:
                #expect(try owned.has(id))
                outcomes["stored", default: 0] += 1
                continue
            case .refused(.logUnavailable):
                outcomes["unavailable", default: 0] += 1
                #expect(try !owned.has(id))
                continue
            case .refused(.outcomeUnknown): break
            default: Issue.record("\(String(describing: failure))")
            }
            // Nothing of it is shown, and nothing more is written.
            #expect(try !owned.has(id))
            #expect(owned.realm.failure { session in _ = try session.create("Dog", ["id": .integer(1_000_001)]) } != nil)
            try owned.crash()
            try owned.reopen()
            let head = try owned.head
            #expect(head.version == owned.snapshot.version && head.owner == owned.logged.owner.owner)
            outcomes[try owned.has(id) ? "unknown, stored" : "unknown, not stored", default: 0] += 1
        }
        print("\(direction) cut for good: \(outcomes)")
        #expect(outcomes.keys.contains { $0.hasPrefix("unknown") })
        _ = try UnknownOutcomeTests.records(of: owned, direct)
        let other = try OwnedRealm(owned.name.text, direct, node: "n2")
        #expect(try RecordDifference.isEqual(owned.snapshot, other.snapshot))
        try other.finish()
        try owned.finish()
    }

    /// A request that cannot be sent leaves nothing in doubt.
    @Test func `a log that nobody can reach refuses writes for sure, and they go on when it is back`() throws {
        let server = try PostgresServer.shared.get()
        let log = SwitchedLog(try server.makeLog())
        var limits = RealmOwner.Limits()
        limits.appendSeconds = 2
        let owned = try OwnedRealm("down", log, limits: limits)
        try owned.add(1...1)
        log.isDown.withLock { $0 = true }
        for id in Int64(2)...3 {
            #expect(owned.failure(adding: id) == .refused(.logUnavailable("it is down")))
            #expect(try !owned.has(id))
        }
        log.isDown.withLock { $0 = false }
        try owned.add(5...5)
        let other = try OwnedRealm("down", log, node: "n2")
        #expect(try other.has(5) && !other.has(4))
        try other.finish()
        try owned.finish()
    }

    /// The server is there and says nothing, as one that was paused.
    @Test func `a log that holds still has a deadline of ours`() throws {
        let behind = try Behind("still", seconds: 0.5)
        try behind.owned.add(1...1)
        behind.proxy.set(.hold)
        let begin = Instant.now()
        #expect(behind.owned.failure(adding: 2) == .refused(.outcomeUnknown))
        #expect(Instant.now().seconds(since: begin) < 20)
        behind.proxy.set(.refuse)
        behind.proxy.set(.pass)
        try behind.owned.crash()
        try behind.owned.reopen()
        #expect(try !behind.owned.has(2))
        try behind.owned.add(3...3)
        try behind.owned.finish()
    }

    /// An address names several servers, of which the first ones are silent, are not there or speak something else.
    @Test func `a server that is silent leaves time for the next one`() throws {
        let server = try PostgresServer.shared.get()
        let silent = try LogProxy(to: server.folder)
        silent.set(.hold)
        let rest = "user=realm dbname=postgres"
        for (hosts, isReached) in [
            ("\(silent.folder),\(server.folder)", true), ("\(silent.folder),/nowhere,\(silent.folder),\(server.folder)", true),
            ("\(server.folder),\(silent.folder)", true), ("\(silent.folder),/nowhere", false),
        ] {
            let begin = Instant.now()
            let connection = try? PostgresConnection.connect(
                to: "host=\(hosts) port=\(PostgresServer.port) \(rest)", until: begin.adding(seconds: 4))
            #expect((connection != nil) == isReached && Instant.now().seconds(since: begin) < 8, "\(hosts)")
        }
        let url = "postgresql://realm@/postgres?host=\(silent.folder),\(server.folder)&port=\(PostgresServer.port)"
        let connection = try PostgresConnection.connect(to: url, until: .now().adding(seconds: 4))
        #expect(try connection.runTexts(["select 1"], until: .now().adding(seconds: 10)).first?.rows.count == 1)
    }

    /// The wait for a standby is cancelled by an operator: the row is visible and not durable, and the server says that all is well.
    @Test func `a wait for standbys that somebody cancels is not taken as stored`() throws {
        let server = try PostgresServer()
        let log = try server.makeLog()
        var limits = RealmOwner.Limits()
        limits.appendSeconds = 3
        let owned = try OwnedRealm("cancelled", log, limits: limits)
        try owned.add(1...1)
        try server.execute("alter system set synchronous_standby_names = 'nobody'", "select pg_reload_conf()")
        // The processes of the server take the new setting one after the other.
        #expect(eventually { server.isWaitingAtCommits })
        let failure = Awaited<StorageError?>()
        let shared = Shared(owned)
        try Threads.start("writer") { failure.set(shared.owned.failure(adding: 2)) }
        let cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
        while !failure.isSet {
            try? server.execute(cancel)
            Threads.sleep(seconds: 0.02)
        }
        #expect(try failure.wait() == .refused(.outcomeUnknown))
        #expect(try !owned.has(2))
        try server.execute("alter system reset synchronous_standby_names", "select pg_reload_conf()")
        try owned.crash()
        try owned.reopen()
        #expect(try owned.has(2))
        try owned.add(3...3)
        try owned.finish()
        server.stop()
    }

    /// Hands a realm to another thread. `@unchecked Sendable`: that thread alone uses it meanwhile.
    private final class Shared: @unchecked Sendable {
        let owned: OwnedRealm
        init(_ owned: OwnedRealm) { self.owned = owned }
    }
}
