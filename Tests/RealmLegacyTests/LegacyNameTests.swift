// SPDX-License-Identifier: Apache-2.0

import RealmLegacy
import RealmPlatform
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

    @Test func `a class that was renamed has the primary key that is stated for its old name`() throws {
        // A table name of the most bytes, whose replacement for what is no UTF-8 has three times as many.
        let name = [UInt8](repeating: 0xff, count: 57)
        var writer = OldFileWriter()
        writer.table(Array("class_".utf8) + name, [OldFileWriter.Column(0, "id", writer.integers([1, 2]))])
        let (names, keys) = (writer.shortStrings([name]), writer.shortStrings([Array("id".utf8)]))
        writer.table("pk", [OldFileWriter.Column(2, "pk_table", names), OldFileWriter.Column(2, "pk_property", keys)])
        let schema = try LegacyFixtures.withFile(writer.finish()) { path in try LegacyFile(path: path).schema() }
        let one = try #require(schema.classes.first)
        #expect(one.name.utf8.count <= 63 && one.className?.hasSuffix("_0") == true)
        #expect(one.primaryKey?.name == "id")
    }

    @Test func `classes whose shortened names are the same get different ones`() throws {
        let long = Array("class_".utf8) + Array(repeating: UInt8(ascii: "a"), count: 55)
        let taken = Array("class_".utf8) + Array(repeating: UInt8(ascii: "a"), count: 55) + Array("_2".utf8)
        let schema = try LegacyNameTests.schema([(long, ["n"]), (taken, ["n"]), (long, ["n"])])
        let start = String(repeating: "a", count: 53)
        #expect(schema.classes.compactMap(\.className) == [start + "aa", start + "aa_2", start + "_2_2"])
    }
}
