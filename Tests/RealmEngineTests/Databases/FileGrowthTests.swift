// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Space is used again: writing the same amount of data for ever needs no more room than writing it for a while.
@Suite struct FileGrowthTests {
    /// Each update is a commit of its own.
    private static let updates = TestRun.isLong ? 100_000 : 2000

    private func size(_ realm: EngineRealm) -> UInt64 { realm.database.current.snapshot.top.logicalSize }

    @Test func `updates of one object do not lengthen the file`() throws {
        let realm = try EngineRealm(TestSchema.counters)
        try realm.write { session in
            for id in 0..<500 { _ = try session.create("Counter", ["_id": .integer(Int64(id)), "n": .integer(1 << 40)]) }
        }
        let used = size(realm)
        for number in 0..<Self.updates {
            try realm.write { session in
                _ = try session.patch("Counter", .primaryKey(.integer(7)), ["n": .integer(Int64(number) << 20)])
            }
        }
        #expect(size(realm) <= 2 * used)
        try realm.finish()
    }

    @Test func `space that a reader kept is used again when it is gone`() throws {
        let realm = try EngineRealm(TestSchema.counters)
        try realm.write { session in
            for id in 0..<500 { _ = try session.create("Counter", ["_id": .integer(Int64(id)), "n": .integer(1 << 40)]) }
        }
        func update(_ count: Int) throws {
            for number in 0..<count {
                try realm.write { session in
                    _ = try session.patch("Counter", .primaryKey(.integer(7)), ["n": .integer(Int64(number) << 20)])
                }
            }
        }
        try withExtendedLifetime(realm.database.current) { try update(100) }
        let kept = size(realm)
        try update(400)
        #expect(size(realm) <= kept)
        try realm.finish()
    }

    /// Changes all over a class leave free space in small pieces: none of them is large enough for a whole commit.
    @Test func `changes all over a class do not lengthen the file without end`() throws {
        let realm = try EngineRealm(TestSchema.counters)
        var random = SeededGenerator(seed: 7)
        try realm.write { session in
            for id in 0..<4000 { _ = try session.create("Counter", ["_id": .integer(Int64(id)), "n": .integer(1 << 40)]) }
        }
        for _ in 0..<Self.updates {
            // Of several sizes, so that what one commit frees does not fit the next.
            let count = Int.random(in: 0..<8, using: &random) == 0 ? 60 : Int.random(in: 1...4, using: &random)
            let changes = (0..<count).map { _ in
                (Int64.random(in: 0..<4000, using: &random), Int64.random(in: 0..<1 << 40, using: &random))
            }
            try realm.write { session in
                for (id, number) in changes {
                    _ = try session.patch("Counter", .primaryKey(.integer(id)), ["n": .integer(number)])
                }
            }
        }
        let snapshot = realm.database.current.snapshot
        let free = try FreeSpace(snapshot.top, snapshot.space)
        let used = free.logicalSize - free.usableByteCount - free.lockedByteCount
        #expect(free.logicalSize < 4 * used + 3 << 20, "\(used) of \(free.logicalSize) bytes are used")
        try realm.finish()
    }
}
