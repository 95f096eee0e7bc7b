// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Every row of the checklist of features that is about writing, notifications or snapshots has a test that names it.
@Suite struct RowCoverageTests {
    /// Rows by their letter.
    private static let rows: [String] = {
        let numbers: [(letter: String, rows: [Int])] = [
            ("A", Array(15...17) + Array(22...55)), ("B", Array(24...28) + [33, 34]), ("C", Array(1...26)),
            ("D", Array(1...16) + Array(29...32) + Array(36...40)), ("D", [45, 48] + Array(50...54) + [63]), ("E", [14]),
        ]
        return numbers.flatMap { entry in entry.rows.map { entry.letter + String($0) } }
    }()

    /// The display names of all tests, as they stand in the sources.
    private static func names() throws -> [String] {
        let folder = Fixtures.packageRoot.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /@Test\("([^"]*)"|func `([^`]*)`/).map {
                String($0.1 ?? $0.2 ?? "")
            }
        }
    }

    @Test func `every row is named by a test`() throws {
        let named = try RowCoverageTests.names().reduce(into: Set<String>()) { named, name in
            // The numbers stand before a colon, separated by commas.
            guard let colon = name.firstIndex(of: ":") else { return }
            let numbers = name[..<colon].split(separator: ",").map { $0.filter { $0 != " " } }
            guard numbers.allSatisfy({ $0.wholeMatch(of: /[A-E][0-9]+/) != nil }) else { return }
            named.formUnion(numbers)
        }
        let missing = RowCoverageTests.rows.filter { !named.contains($0) }
        #expect(missing == [])
    }
}
