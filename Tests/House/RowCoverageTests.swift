// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// docs/checklist.md lists what the service offers of the classic Realm interface, and every row of it has a test that names it.
@Suite struct RowCoverageTests {
    /// The numbers of the rows, such as `A16`.
    private static func listedRows() throws -> [String] {
        let document = SourceTree.packageRoot.appendingPathComponent("docs/checklist.md")
        return try String(contentsOf: document, encoding: .utf8).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", maxSplits: 1)
            guard line.hasPrefix("|"), let number = cells.first?.trimmingCharacters(in: .whitespaces), isRow(number) else {
                return nil
            }
            return number
        }
    }

    private static func isRow(_ text: some StringProtocol) -> Bool {
        guard let letter = text.first, "ABCDEG".contains(letter), text.count > 1 else { return false }
        return text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// The display names of all tests.
    private static func testNames() throws -> [String] {
        try SourceTree.swiftFiles(below: SourceTree.packageRoot.appendingPathComponent("Tests")).flatMap { file in
            try names(in: Array(Data(contentsOf: file)))
        }
    }

    /// The texts that follow `@Test(` and the raw identifiers that follow `func`, wherever the line breaks are.
    private static func names(in source: [UInt8]) -> [String] {
        let starts: [(mark: [UInt8], quote: UInt8)] = [
            (Array("@Test(".utf8), UInt8(ascii: "\"")), (Array("func".utf8), UInt8(ascii: "`")),
        ]
        return source.indices.flatMap { index in
            starts.compactMap { start -> String? in
                guard source[index] == start.mark[0], source[index...].starts(with: start.mark) else { return nil }
                let rest = source[(index + start.mark.count)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
                guard rest.first == start.quote else { return nil }
                return String(decoding: rest.dropFirst().prefix { $0 != start.quote }, as: UTF8.self)
            }
        }
    }

    /// The rows that a name begins with: `A30, C4: what it says`.
    private static func rows(namedBy name: String) -> [String] {
        guard let colon = name.firstIndex(of: ":") else { return [] }
        let numbers = name[..<colon].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return numbers.allSatisfy { isRow($0) } ? numbers : []
    }

    /// The number of the last row of each section of the founding documents' checklist.
    private static let lastRows: KeyValuePairs = ["A": 57, "B": 34, "C": 26, "D": 66, "E": 42, "G": 12]

    @Test func `the checklist has every row, in order`() throws {
        let all = RowCoverageTests.lastRows.flatMap { section, last in (1...last).map { "\(section)\($0)" } }
        #expect(try RowCoverageTests.listedRows() == all)
    }

    @Test func `every row of the checklist is named by a test, and every row that a test names is in it`() throws {
        let listed = try RowCoverageTests.listedRows()
        let named = Set(try RowCoverageTests.testNames().flatMap { RowCoverageTests.rows(namedBy: $0) })
        try #require(listed.count > 100)
        #expect(listed.filter { !named.contains($0) } == [], "rows without a test")
        #expect(named.subtracting(listed).sorted() == [], "rows that tests name and the checklist lacks")
        #expect(Set(listed).count == listed.count, "a number is given twice")
    }
}
