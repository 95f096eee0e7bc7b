// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// A target whose reader had left kept every later version for ten seconds: its history held the versions and not only what
/// they did.
@Suite("Observation: who has left holds nothing")
struct HeldVersionTests {
    /// Hears everything and keeps nothing.
    private final class Deaf: ObservationListener {
        func didChange(_ event: ObservationEvent) {}
        func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
        func didFail(_ error: ObservationError) {}
    }

    @Test func `targets that nobody waits for keep a handful of versions, however many commits there are`() throws {
        let realm = try EngineRealm.ofNodes(40, ObservationLimits())
        var attachments: [RealmEngine.Attachment] = []
        var most = 0
        for round in 0..<300 {
            if round % 20 == 0, attachments.count < 8 {
                attachments.append(try realm.attach("value > \(round)", Deaf(), isActive: false))
            }
            try realm.setValue(round)
            most = max(most, realm.database.liveVersions)
        }
        // The hub may be a few commits late. On a busy machine it rests between two advances, so that each target is at its own version.
        let limits = ObservationLimits()
        #expect(most <= max(limits.passiveVersions, attachments.count) + limits.waitingCommits + 4, "\(most) versions")
        withExtendedLifetime(attachments) {}
        try realm.finish()
    }

    @Test func `commits that wait for a hub that is busy are merged beyond a number, also those that are told alone`() throws {
        var limits = ObservationLimits()
        limits.waitingBarriers = 10
        let realm = try EngineRealm.ofNodes(40, limits)
        let attachment = try realm.attach("value > 0", Deaf(), isActive: false)
        let blocked = Awaited<Bool>()
        let released = Awaited<Bool>()
        realm.database.observations.perform {
            blocked.set(true)
            _ = try? released.wait()
        }
        _ = try blocked.wait()
        for round in 0..<100 { try realm.setValue(round, mark: CommitMark { _, _ in }) }
        #expect(realm.database.liveVersions <= limits.waitingBarriers + 4)
        released.set(true)
        let caughtUp = Awaited<Result<Version, ObservationError>>()
        realm.database.observations.catchUp(attachment) { caughtUp.set($0) }
        #expect(try caughtUp.wait().get().token == realm.database.current.token)
        try realm.finish()
    }

    @Test func `interactive transactions that are over are remembered without their versions`() throws {
        let realm = try EngineRealm.ofNodes(40, ObservationLimits())
        for round in 0..<30 {
            let begun = Awaited<Result<TransactionInfo, WriteError>>()
            realm.database.beginTransaction(
                owner: "me", wait: .seconds(10), idleTime: .seconds(5), lifetime: .seconds(10)
            ) { begun.set($0) }
            let info = try begun.wait().get()
            let done = Awaited<Result<Void, WriteError>>()
            realm.database.perform(
                in: info.id, owner: "me", .write, deadline: .now().adding(seconds: 10),
                { session in _ = try session.patch("Node", .text("1"), ["value": .integer(Int64(round))]) },
                completion: { done.set($0) })
            try done.wait().get()
            let committed = Awaited<Result<Version, WriteError>>()
            realm.database.commitTransaction(info.id, owner: "me") { committed.set($0) }
            _ = try committed.wait().get()
        }
        #expect(realm.database.liveVersions <= 3)
        try realm.finish()
    }
}
