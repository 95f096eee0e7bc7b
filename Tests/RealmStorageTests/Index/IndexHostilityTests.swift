// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Changes to damaged indexes")
struct IndexHostilityTests {
    private static let rounds = TestRun.isLong ? 3_000 : 64

    @Test(arguments: ["indexes", "mixed", "primary-keys"].filter { Fixtures.names.contains($0) })
    func `end with an error at most`(name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("index-damage-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let arena = try NodeArena(byteCount: 1 << 30)
        for round in 0..<IndexHostilityTests.rounds {
            var generator = SeededGenerator(seed: UInt64(round))
            let damage = Damage.allCases[round % Damage.allCases.count]
            try Data(damage.apply(to: original, using: &generator)).write(to: URL(fileURLWithPath: path))
            arena.reset()
            let start = ContinuousClock.now
            do {
                let snapshot = try Snapshot(file: try RealmFile(path: path))
                try change(snapshot, WriteSpace(base: snapshot.space, arena: arena))
            } catch is StorageError {}
            let elapsed = ContinuousClock.now - start
            #expect(elapsed < .seconds(20), "\(name), \(damage.rawValue), seed \(round): took \(elapsed)")
        }
    }

    private func change(_ snapshot: Snapshot, _ writes: WriteSpace) throws {
        for table in snapshot.tables {
            for column in table.columns where column.hasSearchIndex {
                do {
                    try change(table, column, writes)
                } catch is StorageError {}
            }
        }
    }

    private func change(_ table: Table, _ column: Column, _ writes: WriteSpace) throws {
        let isFullText = column.declaredIndex == .fullText
        let writer = try ColumnIndexWriter(column, isFullText: isFullText, writes, capacity: .small(20)) {
            (object) throws(StorageError) in
            if let row = try table.find(object) { return try row.value(column) }
            guard let row = try table.find(ObjectKey(object.rawValue &- 5000)) else { return .null }
            return try row.value(column)
        }
        var root = column.searchIndex
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for index in 0..<min(leaf.count, 40) {
                let row = Row(leaf: leaf, index: index)
                let values = try IndexFixtureTests.values(row, column)
                root = try IndexFixtureTests.erase(values, row.key, column, writer, root) ?? root
                root = try IndexFixtureTests.insert(values, ObjectKey(row.key.rawValue &+ 5000), column, writer, root)
            }
        }
        _ = try writer.build(from: table.objects)
    }
}
