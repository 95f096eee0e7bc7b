// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// A damaged or hostile file is an error or an answer, never a crash, a hang or a read outside the file.
@Suite("Damaged files")
struct DamageTests {
    private static let mutationsPerFile = TestRun.isLong ? 3_000 : 200

    /// Files small enough that one mutation in the right place is likely, of every kind.
    static let fixtures = Fixtures.names.filter { name in
        guard !Fixtures.isEncrypted(name), let path = try? Fixtures.path(name) else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int ?? .max) <= 140_000
    }

    @Test(arguments: fixtures)
    func `is read, verified and searched without a crash`(_ name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("damage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for round in 0..<DamageTests.mutationsPerFile {
            let seed =
                UInt64(truncatingIfNeeded: round) &+ 1_000_003 &* UInt64(name.utf8.reduce(0) { $0 * 31 % 65_521 + Int($1) })
            var generator = SeededGenerator(seed: seed)
            let damage = Damage.allCases[round % Damage.allCases.count]
            let path = folder.appendingPathComponent("\(round).realm").path
            try Data(damage.apply(to: original, using: &generator)).write(to: URL(fileURLWithPath: path))
            let start = ContinuousClock.now
            DamageTests.exercise(path)
            let elapsed = ContinuousClock.now - start
            #expect(elapsed < .seconds(20), "\(name), \(damage.rawValue), seed \(seed): took \(elapsed)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Everything but a typed error would end the test run.
    static func exercise(_ path: String) {
        do {
            let snapshot = try Snapshot(file: try RealmFile(path: path))
            _ = snapshot.verify()
            var read = DeepRead(snapshot)
            try read.run()
            for table in snapshot.tables {
                for column in table.columns where column.hasSearchIndex && column.collection == nil {
                    _ = try? table.indexedKeys(column, equalTo: .int(1)).all()
                    _ = try? table.indexedKeys(column, equalTo: .null).all()
                }
            }
        } catch is StorageError {
            return
        } catch {
            Issue.record("an error of another kind: \(error)")
        }
    }
}
