// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Commits changes of trees and has the whole file checked.
@Suite struct CommitTreesTests {
    static let fixtures = [
        "store", "lists", "gaps", "types-list", "types-set", "types-dictionary", "int-widths", "strings", "random-1",
    ].filter { Fixtures.names.contains($0) }

    /// Files small enough that one mutation in the right place is likely, which is not in every clone's reach.
    static let smallFixtures = ["lists", "links", "mixed", "types-list", "types-set", "types-dictionary", "gaps"]
        .filter { Fixtures.names.contains($0) }

    @Test(arguments: smallFixtures)
    func `Changing a damaged file is an error or not, but no crash`(fixture: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(fixture))))
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("damaged-\(UUID().uuidString).realm")
        defer { try? FileManager.default.removeItem(at: copy) }
        let arena = try NodeArena(byteCount: 1 << 28)
        var opened = 0
        for seed in 0..<(TestRun.isLong ? 2_000 : 32) {
            var random = SeededGenerator(seed: UInt64(seed))
            let damage = Damage.allCases[seed % Damage.allCases.count]
            try Data(damage.apply(to: original, using: &random)).write(to: copy)
            guard let snapshot = try? Snapshot(file: try RealmFile(path: copy.path)) else { continue }
            opened += 1
            for table in snapshot.tables {
                arena.reset()
                var changes = TreeChanges(seed: UInt64(seed))
                _ = try? changes.change(snapshot, WriteSpace(base: snapshot.space, arena: arena), table: table)
            }
            withExtendedLifetime(snapshot) {}
        }
        #expect(opened > 0)
    }

    @Test(arguments: fixtures, 1...(TestRun.isLong ? 4 : 1))
    func `A file whose trees were changed verifies after each commit`(fixture: String, seed: Int) throws {
        var changes = TreeChanges(seed: UInt64(seed))
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("trees-\(UUID().uuidString).realm")
        try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(fixture))).write(to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        for round in 0..<3 {
            let store = try FileStore.open(path: copy.path)
            let transaction = try store.beginWrite()
            let tables = try changes.change(transaction.base, transaction.nodes)
            let snapshot = try transaction.commit(names: transaction.base.top.names, tables: tables)
            let report = snapshot.verify()
            #expect(report.isClean, "\(fixture) seed \(seed) round \(round): \(report.errors.prefix(5))")
            try store.close()
        }
    }
}
