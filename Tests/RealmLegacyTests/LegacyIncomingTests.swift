// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmLegacy

/// Incoming links, which a conversion makes of the links in an old file.
@Suite("Incoming links of converted files")
struct LegacyIncomingTests {
    /// Returns a file with a class of links to another one.
    ///
    /// - Parameters:
    ///   - targets: The targets of the links, nil for a link to nothing.
    ///   - targetCount: How many rows the other class has.
    ///   - emptyCount: How many more columns of links there are, without any.
    private static func file(_ targets: [Int64?], targetCount: Int, emptyCount: Int = 0) -> [UInt8] {
        var writer = OldFileWriter()
        let values = targets.map { $0.map { $0 + 1 } ?? 0 }
        var columns = [OldFileWriter.Column(12, "l", writer.tree(values), subspecs: [1 << 1 | 1])]
        for number in 0..<emptyCount {
            let nothing = writer.tree(values.map { _ in 0 })
            columns.append(OldFileWriter.Column(12, "e\(number)", nothing, subspecs: [1 << 1 | 1]))
        }
        writer.table("class_A", columns)
        writer.table("class_B", [OldFileWriter.Column(0, "n", writer.tree((0..<targetCount).map { Int64($0) }))])
        return writer.finish()
    }

    @Test(arguments: [1, 7, 300, 4096, 1 << 20], [4096, 16])
    func `windows of any size hand out every link once, and in order`(_ windowSize: Int, _ rangeCount: Int) throws {
        let seed: UInt64 = 23
        var generator = SeededGenerator(seed: seed)
        let targetCount = 9000
        // Many links lead to two rows, some to none, and some to rows that do not exist.
        let targets = (0..<6000).map { _ -> Int64? in
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: nil
            case 1...3: 17
            case 4: 8999
            case 5: Int64.random(in: 9000..<20_000, using: &generator)
            default: Int64.random(in: 0..<9000, using: &generator)
            }
        }
        var expected = [[Int]](repeating: [], count: targetCount)
        for (origin, target) in targets.enumerated() {
            if let target, target < targetCount { expected[Int(target)].append(origin) }
        }
        try LegacyFixtures.withFile(LegacyIncomingTests.file(targets, targetCount: targetCount)) { path in
            let file = try LegacyFile(path: path)
            let links = LegacyLinks(file: file, table: file.tables[0], column: file.tables[0].spec.columns[0], control: nil)
            let incoming = try IncomingLinks(links, targetCount: targetCount, LegacyReading(file.space))
            #expect(incoming.count == expected.reduce(0) { $0 + $1.count })
            (incoming.windowSize, incoming.rangeCount) = (windowSize, rangeCount)
            // Windows of few links read the column often.
            let rows = windowSize < 300 ? Array(0..<40) + [8999] : Array(0..<targetCount)
            for row in rows {
                var found: [Int] = []
                try incoming.take(row) { (origins) throws(StorageError) in found += origins }
                #expect(found == expected[row], "row \(row), seed \(seed)")
            }
        }
    }

    @Test func `columns without links leave the memory for windows to those with some`() throws {
        let targets = (0..<3000).map { Int64($0 * 7 % 3000) }
        try LegacyFixtures.withFile(LegacyIncomingTests.file(targets, targetCount: 3000, emptyCount: 30)) { path in
            let file = try LegacyFile(path: path)
            var all: [IncomingLinks] = []
            for column in file.tables[0].spec.columns {
                let links = LegacyLinks(file: file, table: file.tables[0], column: column, control: nil)
                all.append(try IncomingLinks(links, targetCount: 3000, LegacyReading(file.space)))
            }
            IncomingLinks.divide(all, fileByteCount: file.file.plainByteCount)
            #expect(all[0].windowSize == 2 << 20)
            #expect(all.dropFirst().allSatisfy { $0.count == 0 && $0.windowSize <= 256 })
            try LegacyFixtures.converting(path, key: nil) { snapshot, _ in #expect(snapshot.verify().errors == []) }
        }
    }

    @Test func `very many columns share the memory for windows and ranges`() throws {
        try LegacyFixtures.withFile(LegacyIncomingTests.file([0, 1, 2], targetCount: 3)) { path in
            let file = try LegacyFile(path: path)
            let links = LegacyLinks(file: file, table: file.tables[0], column: file.tables[0].spec.columns[0], control: nil)
            var all: [IncomingLinks] = []
            for _ in 0..<20_000 { all.append(try IncomingLinks(links, targetCount: 3, LegacyReading(file.space))) }
            IncomingLinks.divide(all, fileByteCount: file.file.plainByteCount)
            #expect(all.reduce(0) { $0 + $1.windowSize } <= 2 << 20)
            #expect(all.reduce(0) { $0 + $1.rangeCount } <= 1 << 20)
        }
    }

    @Test func `the reading of links can be cancelled`() throws {
        try LegacyFixtures.withFile(LegacyIncomingTests.file([0, 1], targetCount: 2)) { path in
            let file = try LegacyFile(path: path)
            let control = WorkControl()
            control.cancel()
            let links = LegacyLinks(file: file, table: file.tables[0], column: file.tables[0].spec.columns[0], control: control)
            #expect(throws: WorkControl.stopped) { try links.forEach { _, _ in } }
        }
    }
}
