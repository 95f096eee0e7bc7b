// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Names and texts that mean something to the programs which read exports.
@Suite struct HostileNameTests {
    /// A workbook could not be opened when the name of a class had a control character or U+FFFE.
    @Test(arguments: 0..<60) func `names of sheets are XML, short and different, whatever classes are called`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "\0", "\u{1}", "\u{1f}", "\u{7f}", "\u{fffe}", "\u{ffff}", "[", "[\u{301}", "]", ":\u{308}", "😀", "a", "A", "é",
            "e\u{301}", "'", "History", "\n", "\t", "\u{202e}", "_2",
        ]
        var names = SheetNames()
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 {
            let wanted = (0..<Int.random(in: 0...24, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            let name = names.take(wanted.joined())
            #expect(!name.isEmpty && name.utf16.count <= 31, "seed \(seed)")
            #expect(name.unicodeScalars.allSatisfy { $0.isXML && $0.value >= 0x20 }, "seed \(seed): \(name.debugDescription)")
            #expect(!name.unicodeScalars.contains { "[]:*?/\\'".unicodeScalars.contains($0) }, "seed \(seed)")
            #expect(seen.insert(Array(name.lowercased().utf8)).inserted, "seed \(seed)")
        }
    }

    /// Otherwise an export would have two tables of that name, or a class that is taken for its map.
    @Test(arguments: 0..<60) func `no table gets the name of the map, and columns may`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["_realm_names", "_REALM_NAMES", "_Realm_Names_2", "_realm_names_2", "_realm_name\u{1}", "sqlite_", "a"]
        var tables = RelationalNames()
        var seen: Set<[UInt8]> = [Array(NameMap.table.utf8)]
        for _ in 0..<30 {
            let name = tables.take(pieces.randomElement(using: &random) ?? "")
            #expect(seen.insert(Array(name.lowercased().utf8)).inserted, "seed \(seed): \(name)")
        }
        var columns = RelationalNames(areColumns: true)
        #expect(columns.take(NameMap.table) == NameMap.table)
    }

    private static func cell(_ text: String, separator: UInt8 = UInt8(ascii: ",")) -> String {
        let line = CSVLine()
        line.guardsFormulas = true
        line.separator = separator
        let buffer = OutputBuffer()
        line.add(text, to: buffer)
        return buffer.text
    }

    @Test(arguments: [
        "=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "\u{1}=1", "\u{b}=1", "\u{a0}=1", "\u{ff1d}1", "\u{ff0b}1",
        "\u{ff0d}1",
        "\u{ff20}x", "\u{feff}=1", "\u{2212}1",
    ])
    func `what a spreadsheet takes for a formula gets an apostrophe`(_ text: String) {
        let cell = HostileNameTests.cell(text)
        #expect(cell.hasPrefix("'") || cell.hasPrefix("\"'"), "\(cell.debugDescription)")
    }

    @Test(arguments: ["a;=1", "a,=1", "a\t=1", "a;b"])
    func `what may begin a cell is quoted, whatever separates cells`(_ text: String) {
        #expect(HostileNameTests.cell(text) == "\"\(text)\"")
        #expect(HostileNameTests.cell(text, separator: UInt8(ascii: ";")) == "\"\(text)\"")
    }

    @Test(arguments: ["a", "ä=1", "1", "\u{ff01}", "漢字"]) func `other texts stay as they are`(_ text: String) {
        #expect(HostileNameTests.cell(text) == text)
    }
}
