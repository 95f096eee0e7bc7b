// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Realms of the mode `follow`: live views of files that are written elsewhere. Rows D56, D65, E37.
@Suite("Following a file that is written elsewhere") struct FollowTests {
    private static let name = RealmName("followed")!

    private func follow(_ path: String, key: EncryptionKey? = nil, interval: Duration = .milliseconds(10)) throws -> Database {
        var options = Database.OpenOptions(key: key, mode: .follow)
        options.followInterval = interval
        options.backlinkNames = ObservationWorkload.names
        return try Database.open(name: FollowTests.name, path: path, options)
    }

    /// Waits until the follower has the version that the writer has.
    private func expectVersion(_ follower: Database, _ version: UInt64) throws {
        let hasCome = eventually { follower.current.snapshot.version == version }
        try #require(hasCome, "version \(version), at \(follower.current.snapshot.version)")
    }

    /// All objects of a realm as text.
    private func text(_ database: Database) throws -> [String] {
        let snapshot = database.current.snapshot
        var lines: [String] = []
        for table in snapshot.classes {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for index in 0..<leaf.count {
                    lines.append(try ObjectText(snapshot).text(of: Row(leaf: leaf, index: index), in: table))
                }
            }
        }
        return lines
    }

    private func write(_ realm: EngineRealm, _ count: Int, _ generator: inout SeededGenerator) throws {
        let seed = generator.next()
        try realm.write { session in
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<count { try ObservationWorkload.step(session, &generator) }
        }
    }

    /// With one commit at a time nodes are shared between versions; with several all is compared.
    @Test(arguments: 0..<(TestRun.isLong ? 100 : 6))
    func `D65: change sets of a follower lead a copy to what a fresh read finds`(_ seed: Int) throws {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        var generator = SeededGenerator(seed: UInt64(seed))
        try write(realm, 30, &generator)
        let follower = try follow(place.path)
        let recorder = CommitRecorder(follower)
        let replays = try ObservationPropertyTests.targets(follower).flatMap { target in
            try [false, true].map { try ObservationReplay(target, in: follower, isActive: $0) }
        }
        for round in 0..<8 {
            for _ in 0..<(seed % 2 == 0 ? 1 : Int.random(in: 1...4, using: &generator)) {
                try write(realm, Int.random(in: 1...5, using: &generator), &generator)
            }
            try expectVersion(follower, realm.database.current.snapshot.version)
            for replay in replays {
                let failures = try replay.step(recorder)
                #expect(failures.isEmpty, "seed \(seed) round \(round): \(failures.joined(separator: "\n"))")
                if !failures.isEmpty { return }
            }
        }
        #expect(try text(follower) == text(realm.database))
        follower.close()
        try realm.finish()
    }

    @Test func `D56: a follower neither locks nor changes the file, and refuses writes`() throws {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        let before = try place.bytes
        let modified = try System.facts(path: place.path)
        let follower = try follow(place.path)
        #expect(!follower.isWritable && follower.servedMode == .follow)
        #expect(follower.current.token.version == 1)
        usleep(100_000)
        #expect(try place.bytes == before)
        #expect(try System.facts(path: place.path) == modified)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.url.deletingLastPathComponent().path)
        #expect(names.sorted() == ["test.realm", "test.realm.lock"])
        follower.close()
        try realm.finish()
    }

    @Test func `D65: a follower that is closed ends its thread at once`() throws {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        let follower = try follow(place.path, interval: .seconds(3600))
        let begin = Date()
        follower.close()
        #expect(Date().timeIntervalSince(begin) < 2)
        try realm.finish()
    }

    @Test func `D65: an encrypted file is followed`() throws {
        let place = try TemporaryRealm()
        let key = try EncryptionKey(bytes: Fixtures.key)
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes, key: key)
        let follower = try follow(place.path, key: key)
        for id in 0..<20 {
            try realm.write { session in
                _ = try session.create("Lonely", ["_id": .integer(Int64(id)), "value": .integer(1)])
            }
        }
        try expectVersion(follower, realm.database.current.snapshot.version)
        #expect(follower.current.snapshot.classTable(named: "Lonely")?.count == 20)
        follower.close()
        try realm.finish()
    }

    @Test func `D65: a file that is away is told, and its return goes on in the same epoch`() throws {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        let follower = try follow(place.path)
        let away = place.path + ".away"
        let version = realm.database.current.snapshot.version
        try realm.finish()
        try FileManager.default.moveItem(atPath: place.path, toPath: away)
        #expect(eventually { follower.absence != nil })
        try FileManager.default.moveItem(atPath: away, toPath: place.path)
        #expect(eventually { follower.absence == nil })
        #expect(follower.current.snapshot.version == version)
        let again = try EngineRealm(path: place.path)
        try again.write { session in _ = try session.create("Lonely", ["_id": .integer(1), "value": .integer(1)]) }
        try expectVersion(follower, again.database.current.snapshot.version)
        #expect(follower.health.isSound)
        follower.close()
        try again.finish()
    }

    @Test func `D65: a file that was put back to an earlier version is shown as it is, as the next version of a new epoch`()
        throws
    {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        let early = try place.bytes
        try realm.write { session in _ = try session.create("Lonely", ["_id": .integer(1), "value": .integer(1)]) }
        try realm.finish()
        let late = realm.database.current.snapshot.version
        let follower = try follow(place.path)
        let before = follower.current.token
        try place.write(early)
        #expect(eventually { follower.current.snapshot.version < late })
        let after = follower.current.token
        #expect(after.epoch != before.epoch && after.version == before.version + 1)
        #expect(follower.epoch.text == after.epoch && follower.health.isSound)
        #expect(try text(follower).isEmpty)
        follower.close()
    }

    @Test func `D65: a look at an unchanged file of 64 MiB takes microseconds`() throws {
        let place = try TemporaryRealm()
        let realm = try EngineRealm(path: place.path, ObservationWorkload.classes)
        try realm.finish()
        // The rest of a file is free space to a reader.
        let handle = try FileHandle(forWritingTo: place.url)
        try handle.truncate(atOffset: 64 << 20)
        try handle.close()
        var file = FollowedFile(path: place.path, key: nil, isExact: true)
        #expect(try file.hasChanged())
        _ = try file.takeCopy()
        let looks = 1000
        let begin = Date()
        for _ in 0..<looks { #expect(try !file.hasChanged()) }
        let microseconds = Date().timeIntervalSince(begin) / Double(looks) * 1e6
        #expect(microseconds < 500, "\(microseconds) µs")
    }
}
