// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Damaged files once more, now through queries and representations: an error or an answer, nothing else.
@Suite("Damaged files behind queries")
struct DamagedReadTests {
    private static let mutationsPerFile = TestRun.isLong ? 800 : 40

    @Test(arguments: Fixtures.shortNames)
    func `are queried and written out without a crash`(_ name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("damaged-\(UUID().uuidString).realm").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 0..<DamagedReadTests.mutationsPerFile {
            let seed = UInt64(round) &* 7_919 &+ UInt64(name.utf8.reduce(0) { $0 * 31 % 65_521 + Int($1) })
            var generator = SeededGenerator(seed: seed)
            let damage = Damage.allCases[round % Damage.allCases.count]
            // A new file each time: the mapping of the one before may still be alive.
            try? FileManager.default.removeItem(atPath: path)
            try Data(damage.apply(to: original, using: &generator)).write(to: URL(fileURLWithPath: path))
            let start = ContinuousClock.now
            do {
                try exercise(try Snapshot(file: try RealmFile(path: path)))
            } catch is StorageError {
            } catch QueryError.storage {
            } catch {
                Issue.record("\(name), \(damage.rawValue), seed \(seed): \(error)")
            }
            let elapsed = ContinuousClock.now - start
            #expect(elapsed < .seconds(20), "\(name), \(damage.rawValue), seed \(seed): took \(elapsed)")
        }
    }

    private func exercise(_ snapshot: Snapshot) throws {
        for table in snapshot.classes {
            for text in queries(table) {
                // A name that a damaged schema made up may not be one that the language can say.
                guard let query = try? Query.parse(text) else { continue }
                do {
                    let bound = try query.bind(to: table, in: snapshot)
                    _ = try bound.count()
                    _ = try bound.execute(ResultWindow(limit: 50))
                } catch {
                    guard case .invalid = error else { throw error }
                }
            }
            try write(table, snapshot)
        }
    }

    private func queries(_ table: Table) -> [String] {
        var queries = ["TRUEPREDICATE"]
        for column in table.columns {
            let name = column.name
            switch (column.collection, column.type) {
            case (nil, .int), (nil, .float), (nil, .double), (nil, .decimal):
                queries += ["\(name) > 3", "\(name) == 1", "\(name) BETWEEN {1, 9} SORT(\(name) DESC) LIMIT(5)"]
            case (nil, .string):
                queries += ["\(name) CONTAINS[c] 'a'", "\(name) == 'a'", "TRUEPREDICATE SORT(\(name) ASC) DISTINCT(\(name))"]
            case (nil, _): queries += ["\(name) == null", "\(name) != null"]
            default: queries += ["\(name).@count > 1"]
            }
        }
        queries.append("@links.@count > 0")
        return queries
    }

    private func write(_ table: Table, _ snapshot: Snapshot) throws {
        let plan = try ObjectPlanner(snapshot).plan(table)
        for representation in [Representation(), Representation(format: .ejson(isRelaxed: false), intsAsStrings: true)] {
            let encoder = ObjectEncoder(snapshot, representation)
            var writer = JSONWriter(reservingCapacity: 4096)
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for row in 0..<leaf.count {
                    try encoder.write(Row(leaf: leaf, index: row), plan, to: &writer)
                    writer.forgetBytes()
                }
            }
        }
    }
}
