// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Which backups are kept, over a simulated time.
@Suite struct BackupRetentionTests {
    /// Monday, 2026-06-01T00:00:00Z.
    private static let begin: Int64 = 1_780_272_000

    private func backup(_ seconds: Int64, _ version: UInt64) throws -> BackupName {
        BackupName(
            realm: try #require(RealmName("app")), time: WallClock(nanoseconds: seconds * 1_000_000_000), version: version)
    }

    private func times(_ backups: [BackupName]) -> [String] { backups.map(\.timeText) }

    @Test func `a name states realm, time and version, and no other file name is read as one`() throws {
        let realm = try #require(RealmName("app"))
        let name = try backup(BackupRetentionTests.begin + 61, 17)
        #expect(name.file == "20260601T000101Z-17.realm")
        #expect(BackupName(file: name.file, realm: realm) == name)
        for file in [
            "20260601T000101Z-17", "20260601T000101Z-017.realm", "20260601T000101-17.realm", "20260631T000101Z-17.realm",
            "20260601T000101Z.realm", "20260601T000101Z-17-1.realm", "20260601T000101Z-17-02.realm",
            "20260601T000101Z-17-2-3.realm", "2026-06-01T00:01:01Z-17.realm", "app.realm", ".realm",
            "20260601T000101z-17.realm", "20260601T000101Z--1.realm",
        ] {
            #expect(BackupName(file: file, realm: realm) == nil, "\(file)")
        }
    }

    @Test func `backups of the same second and version have numbers, and the last of them is the newest`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-backups-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = FolderBackupStore(folder)
        let name = try backup(BackupRetentionTests.begin + 61, 17)
        let names = try (0..<3).map { _ in
            try #require(try store.add(name) { file throws(StorageError) in try FirstContents.write(17, to: file) })
        }
        #expect(
            names.map(\.file) == [
                "20260601T000101Z-17.realm", "20260601T000101Z-17-2.realm", "20260601T000101Z-17-3.realm",
            ])
        #expect(BackupName(file: names[2].file, realm: name.realm) == names[2])
        #expect(try store.names(of: name.realm) == names.reversed())
        // A number is not given again while a later one is there.
        try store.delete(names[1])
        let next = try store.add(name) { file throws(StorageError) in try FirstContents.write(17, to: file) }
        #expect(next?.number == 4)
        let retention = try #require(BackupRetention("daily=1"))
        #expect(retention.surplus(of: try store.names(of: name.realm)) == [names[2], names[0]])
    }

    @Test(arguments: [
        "", "hourly", "hourly=", "hourly=-1", "hourly=x", "hourly=1,hourly=2", "yearly=1", "hourly=0", "hourly=1,", "daily=10001",
    ])
    func `what states no numbers of periods is refused`(_ text: String) {
        #expect(BackupRetention(text) == nil)
    }

    @Test func `the newest of each period is kept, and the newest of all`() throws {
        let retention = try #require(BackupRetention("daily=2,monthly=2"))
        let day: Int64 = 86_400
        let begin = BackupRetentionTests.begin
        // Two in May, three on 1 June, one on 2 and on 3 June.
        let seconds = [begin - 9 * day, begin - day, begin, begin + 60, begin + 3600, begin + day, begin + 2 * day]
        let backups = try seconds.enumerated().map { try backup($0.element, UInt64($0.offset)) }
        let surplus = Set(retention.surplus(of: backups.reversed()))
        #expect(
            times(backups.filter { !surplus.contains($0) }) == ["20260531T000000Z", "20260602T000000Z", "20260603T000000Z"])
        let none = try #require(BackupRetention("hourly=0,daily=1"))
        #expect(none.surplus(of: Array(backups.suffix(1))).isEmpty)
        #expect(none.surplus(of: []).isEmpty)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `over a simulated month each period has its copy, and no more are kept than the plan says`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let retention = try #require(BackupRetention("hourly=24,daily=7,weekly=4"))
        var (kept, all): ([BackupName], [BackupName]) = ([], [])
        var now = BackupRetentionTests.begin
        let end = now + 40 * 86_400
        var version: UInt64 = 0
        while now < end {
            version += 1
            let new = try backup(now, version)
            kept.insert(new, at: 0)
            all.insert(new, at: 0)
            let surplus = Set(retention.surplus(of: kept))
            kept.removeAll { surplus.contains($0) }
            #expect(kept.first == new)
            #expect(kept.count <= 24 + 7 + 4, "seed \(seed)")
            // From a backup every ten minutes to pauses of most of a day.
            now += Int64.random(in: 0..<20, using: &generator) == 0 ? 70_000 : Int64.random(in: 600..<5400, using: &generator)
        }
        let surplus = Set(retention.surplus(of: all))
        #expect(kept == all.filter { !surplus.contains($0) }, "seed \(seed)")
        for (length, count) in [(11, 24), (8, 7)] {
            let newest = all.reduce(into: [String]()) { labels, backup in
                let label = String(backup.timeText.prefix(length))
                if labels.last != label { labels.append(label) }
            }.prefix(count)
            #expect(Set(newest).isSubset(of: Set(kept.map { String($0.timeText.prefix(length)) })), "seed \(seed)")
        }
    }

    @Test func `a folder lists its backups, the newest first, and deletes them`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-backups-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = FolderBackupStore(folder)
        let realm = try #require(RealmName("app"))
        #expect(try store.names(of: realm) == [])
        let names = try [backup(BackupRetentionTests.begin, 1), backup(BackupRetentionTests.begin + 5, 2)]
        for name in names {
            try store.put(name) { file throws(StorageError) in try FirstContents.write(name.version, to: file) }
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/app/notes.txt"))
        #expect(try store.names(of: realm) == names.reversed())
        let target = try NewFile(nextTo: folder + "/read")
        let listed = try #require(try store.list(of: realm).last)
        try store.get(listed, into: target.descriptor, nil)
        let snapshot = try Snapshot(file: try RealmFile(path: target.openPath))
        #expect(snapshot.verify().isClean)
        // What could not be written is not there.
        let third = try backup(BackupRetentionTests.begin + 9, 3)
        #expect(throws: StorageError.self) {
            try store.put(third) { _ throws(StorageError) in throw .io(operation: "write", errno: ENOSPC) }
        }
        #expect(try store.names(of: realm).count == 2)
        try store.delete(names[0])
        try store.delete(names[0])
        #expect(try store.names(of: realm) == [names[1]])
        #expect(throws: StorageError.refused(.fileNotFound)) { try store.get(listed, into: target.descriptor, nil) }
        #expect(throws: StorageError.refused(.fileNotFound)) { try store.digest(of: names[0]) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder + "/app").sorted() == [names[1].file, "notes.txt"])
    }

    /// The contents of a file of a test.
    private enum FirstContents {
        static func write(_ version: UInt64, to file: FileBackend) throws(StorageError) {
            let store = try FileStore.inMemory(FileStore.Options())
            try SnapshotCopy.write(store.current, to: file, key: nil)
        }
    }
}
