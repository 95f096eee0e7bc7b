// SPDX-License-Identifier: Apache-2.0

import RealmLegacy
import RealmStorage
import RealmTestSupport
import Testing

/// Names that are taken when an old file is converted.
@Suite("Names in old files that are taken")
struct LegacyNameTests {
    /// Returns the schema of a file with some tables, which have columns of one integer.
    private static func schema(_ tables: [(name: [UInt8], columns: [String])]) throws -> Snapshot {
        var writer = OldFileWriter()
        for (name, columns) in tables {
            writer.table(name, columns.map { OldFileWriter.Column(0, $0, writer.integers([1])) })
        }
        return try LegacyFixtures.withFile(writer.finish()) { path in try LegacyFile(path: path).schema() }
    }

    @Test func `a name that is the same after it was shortened gets the next number`() throws {
        let long = String(repeating: "a", count: 63), start = String(repeating: "a", count: 61)
        let schema = try LegacyNameTests.schema([(Array("class_A".utf8), [long, "x", start + "_3", long, long])])
        let names = schema.classes.first?.columns.map(\.name)
        #expect(names == [long, "x", start + "_3", String(repeating: "a", count: 59) + "_3_2", start + "_4"])
    }

    @Test func `a name whose first replacement is taken gets the next number`() throws {
        let schema = try LegacyNameTests.schema([(Array("class_A".utf8), ["n", "n_3", "n_3_2", "n"])])
        #expect(schema.classes.first?.columns.map(\.name) == ["n", "n_3", "n_3_2", "n_3_3"])
    }

    @Test func `classes whose shortened names are the same get different ones`() throws {
        let long = Array("class_".utf8) + Array(repeating: UInt8(ascii: "a"), count: 55)
        let taken = Array("class_".utf8) + Array(repeating: UInt8(ascii: "a"), count: 55) + Array("_2".utf8)
        let schema = try LegacyNameTests.schema([(long, ["n"]), (taken, ["n"]), (long, ["n"])])
        let start = String(repeating: "a", count: 53)
        #expect(schema.classes.compactMap(\.className) == [start + "aa", start + "aa_2", start + "_2_2"])
    }
}
