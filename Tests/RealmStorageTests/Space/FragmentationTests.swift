// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Free lists are written anew with every version, so their length is a part of the cost of each write.
@Suite("Fragmentation")
struct FragmentationTests {
    @Test func `free lists stay short however many single values are written`() throws {
        var random = SeededGenerator(seed: 1)
        var options = FileStore.Options()
        options.clusterShift = 4
        let store = try FileStore.inMemory(options)
        var transaction = try store.beginTransaction()
        let key = try transaction.createTable("class_A")
        for number in 0..<4 { try transaction.addColumn(ColumnDefinition("n\(number)", .int), to: key) }
        let column = [Value?](repeating: .int(1 << 40), count: 16_000)
        let objects = try transaction.createObjects(column.count, in: key, columns: [column, column, column, column])
        _ = try transaction.commit()
        let columns = try #require(store.current.classTable(named: "A")).columns
        var longest = 0
        for round in 0..<5000 {
            transaction = try store.beginTransaction()
            let object = objects[Int.random(in: 0..<objects.count, using: &random)]
            try transaction.set(.int(1 << 40 + Int64(round)), columns[round % 4], of: object, in: key)
            let top = try transaction.commit().top
            longest = max(longest, try store.current.space.node(at: top.freePositions).count)
        }
        // Each of 4000 leaves was moved about once and has left its place behind. Three lists of 2000 entries are 24 KB.
        #expect(longest < 3500, "\(longest) free blocks")
        let last = try store.current.space.node(at: store.current.top.freePositions).count
        #expect(last < 3500, "\(last) free blocks")
        let report = store.current.verify()
        #expect(report.isClean, "\(report.errors)")
        try store.close()
    }
}
