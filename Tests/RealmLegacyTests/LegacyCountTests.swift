// SPDX-License-Identifier: Apache-2.0

import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Numbers of rows, as a description of a file states them without visiting leaves.
@Suite("Numbers of rows in old tables")
struct LegacyCountTests {
    @Test(arguments: LegacyFixtures.names)
    func `the root of a column states as many rows as its leaves have`(_ name: String) throws {
        try LegacyFixtures.withFile(try LegacyFixtures.bytes(name)) { path in
            let key = try LegacyFixtures.key(name)
            let counted = try LegacyFile(path: path, key: key)
            let stated = try LegacyFile(path: path, key: key, countsRows: false)
            #expect(counted.tables.map(\.rowCount) == stated.tables.map(\.rowCount))
        }
    }

    @Test func `a root that states another number is believed by a description alone`() throws {
        var writer = OldFileWriter()
        let numbers = (0..<2500).map { Int64($0) }
        writer.table("class_A", [OldFileWriter.Column(0, "n", writer.tree(numbers))])
        var bytes = writer.finish()
        // The root is the last inner node; its last slot is the total.
        let total = (UInt64(2500) << 1 | 1), wrong = UInt64(1) << 62 | 1
        let word = { (number: UInt64) in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let place = try #require(
            stride(from: 24, to: bytes.count - 8, by: 8).first { Array(bytes[$0..<$0 + 8]) == word(total) })
        bytes.replaceSubrange(place..<place + 8, with: word(wrong))
        try LegacyFixtures.withFile(bytes) { path in
            let stated = try LegacyFile(path: path, countsRows: false)
            let counted = try LegacyFile(path: path)
            #expect(stated.tables.first?.rowCount == 1 << 61)
            #expect(counted.tables.first?.rowCount == 2500)
        }
    }
}
