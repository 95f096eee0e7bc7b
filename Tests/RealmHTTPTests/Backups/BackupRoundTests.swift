// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Rounds of planned backups: what is stored, what is not stored again, and what is kept.
@Suite struct BackupRoundTests {
    /// Runs a closure with a folder for realms and backups.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-rounds-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// A realm that has not changed is not stored again by a server that knows nothing of the one before.
    @Test(arguments: [false, true])
    func `A18: a realm is not backed up again after a restart while it has the same bytes`(_ isEncrypted: Bool) throws {
        try withFolder { folder in
            let key = isEncrypted ? try EncryptionKey(text: String(repeating: "ab", count: 64)) : nil
            let realm = try PlannedRealm(path: folder + "/app.realm", key: key)
            let store = FolderBackupStore(folder + "/backups")
            func names() throws -> [BackupName] { try store.names(of: PlannedRealm.name) }
            func round() { realm.backups(to: store).backUpAll() }
            round()
            #expect(try names().count == 1)
            realm.clock.advance(seconds: 60)
            try realm.reopen()
            round()
            #expect(try names().count == 1)
            // Another file with the same number of the version is something else.
            let version = realm.database.current.snapshot.version
            try realm.reopen {
                try FileManager.default.removeItem(atPath: realm.path)
                let other = try PlannedRealm(path: realm.path, key: key)
                while other.database.current.snapshot.version < version { try other.setAge(7) }
                try other.setAge(8)
            }
            #expect(realm.database.current.snapshot.version == version + 1)
            realm.clock.advance(seconds: 60)
            round()
            #expect(try names().count == 2)
            realm.clock.advance(seconds: 60)
            try realm.reopen {
                try FileManager.default.removeItem(atPath: realm.path)
                let other = try PlannedRealm(path: realm.path, key: key)
                while other.database.current.snapshot.version <= version { try other.setAge(9) }
            }
            #expect(realm.database.current.snapshot.version == version + 1)
            round()
            #expect(try names().map(\.version) == [version + 1, version + 1, version])
        }
    }

    /// A store that takes backups and refuses to delete them, as credentials without that right make it.
    private struct Hoard: ForwardingStore {
        let folder: FolderBackupStore

        func delete(_ name: any StoredName) throws(StorageError) { throw .refused(.unsuitable("nothing is deleted here")) }
    }

    @Test func `a store that refuses to delete does not get the same backup again and again`() throws {
        try withFolder { folder in
            let realm = try PlannedRealm(path: folder + "/app.realm")
            let store = Hoard(folder: FolderBackupStore(folder + "/backups"))
            let backups = realm.backups(to: store, keep: "monthly=1")
            for round in 0..<4 {
                if round < 2 { try realm.setAge(round + 1) }
                backups.backUpAll()
                realm.clock.advance(seconds: 60)
            }
            #expect(try store.names(of: PlannedRealm.name).count == 2)
            // When it deletes again, the surplus goes.
            realm.backups(to: store.folder, keep: "monthly=1").backUpAll()
            #expect(try store.names(of: PlannedRealm.name).count == 1)
        }
    }

    /// Lets a month pass, with a round every so many seconds, and checks what is left.
    private func month(_ store: any BackupStore, everySeconds step: Int, in folder: String) throws {
        let realm = try PlannedRealm(path: folder + "/app.realm")
        let keep = "hourly=24,daily=7,weekly=4"
        var backups = realm.backups(to: store, keep: keep)
        var made: [(name: BackupName, age: Int)] = []
        let rounds = 31 * 86_400 / step
        for round in 0..<rounds {
            realm.clock.advance(seconds: step)
            // Every fifth round finds nothing new; once a week the server is started anew.
            if round % 5 != 4 {
                try realm.setAge(round)
                let time = WallClock(nanoseconds: Int64(realm.clock.now) * 1_000_000_000)
                let version = realm.database.current.snapshot.version
                made.insert((BackupName(realm: PlannedRealm.name, time: time, version: version), round), at: 0)
            }
            backups.backUpAll()
            if round % (7 * 86_400 / step) == 0 { backups = realm.backups(to: store, keep: keep) }
        }
        let kept = try store.names(of: PlannedRealm.name)
        let retention = try #require(BackupRetention(keep))
        let surplus = Set(retention.surplus(of: made.map(\.name)))
        #expect(kept == made.map(\.name).filter { !surplus.contains($0) })
        #expect(kept.count <= 24 + 7 + 4 && kept.first == made.first?.name)
        // One of each of the last seven days is there, and of the weeks before that as well.
        let days = Set(kept.map { $0.timeText.prefix(8) })
        #expect(Set(made.map { $0.name.timeText.prefix(8) }.prefix { $0 > "20260626" }).isSubset(of: days))
        #expect(kept.last.map { $0.timeText < "20260615" } == true)
        // The oldest and the newest have what the realm had then.
        for name in [kept.first, kept.last] {
            let backup = try #require(try store.list(of: PlannedRealm.name).first { $0.name == name })
            let file = try NewFile(nextTo: folder + "/read")
            try store.get(backup, into: file.descriptor, nil)
            #expect(try RealmEngineReader.age(file.openPath) == made.first { $0.name == name }.map { Int64($0.age) })
        }
    }

    @Test func `A18: over a simulated month a folder has what the plan keeps`() throws {
        try withFolder { folder in try month(FolderBackupStore(folder + "/backups"), everySeconds: 3600, in: folder) }
    }

    @Test(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"))
    func `A18: over a simulated month a bucket has what the plan keeps`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options())
        try withFolder { folder in try month(store, everySeconds: 4 * 3600, in: folder) }
        let log = server.log()
        #expect(log.components(separatedBy: "PUT /backups/some").count - 1 == 149)
        #expect(log.components(separatedBy: "DELETE /backups/some").count > 100)
    }
}
