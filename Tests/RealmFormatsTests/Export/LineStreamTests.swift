// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmFormats
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Streams whose objects are written by several threads: they are the same as those of one thread.
@Suite("Lines of a stream")
struct LineStreamTests {
    /// A realm with a class of many objects, some of which are long or were deleted, and two small ones.
    ///
    /// - Parameter longest: The only object that is long; nil for one of about forty.
    private static func realm(
        _ count: Int, _ random: inout SeededGenerator, longest: (row: Int, length: Int)? = nil
    ) throws -> ScratchRealm {
        let realm = try ScratchRealm()
        for (name, count) in [("class_A", count), ("class_B", 3), ("class_C", 0)] {
            let key = try realm.transaction.createTable(name)
            let texts = try realm.transaction.addColumn(ColumnDefinition("text", .string), to: key)
            try realm.transaction.addColumn(ColumnDefinition("n", .int), to: key)
            let objects = try realm.transaction.createObjects(
                count, in: key, columns: [Array(repeating: nil, count: count), (0..<count).map { .int(Int64($0)) }])
            let column = try #require(try realm.transaction.table(key).columns.first { $0.key == texts })
            for (row, object) in objects.enumerated() {
                let isLong = longest.map { $0.row == row && name == "class_A" } ?? (Int.random(in: 0..<40, using: &random) == 0)
                let length = isLong ? longest?.length ?? 20_000 : Int.random(in: 0..<60, using: &random)
                let text = Array(repeating: UInt8(ascii: "a") + UInt8(row % 26), count: length)
                try ByteView.withBytes(of: text) { view throws(StorageError) in
                    try realm.transaction.set(.string(view), column, of: object, in: key)
                }
            }
            for (row, object) in objects.enumerated() where row != longest?.row && Int.random(in: 0..<30, using: &random) == 0 {
                try realm.transaction.deleteObject(object, in: key)
            }
        }
        try realm.commit()
        return realm
    }

    /// The lines of all objects of a class in a given order, as a single encoder writes them.
    private static func lines(_ name: String, in snapshot: Snapshot, keys: [ObjectKey]? = nil) throws -> [String] {
        let table = try #require(snapshot.classTable(named: name))
        let plan = try ObjectPlanner(snapshot).plan(table)
        let encoder = ObjectEncoder(snapshot, Representation())
        var lines: [String] = []
        for key in try keys ?? Query.parse("TRUEPREDICATE").bind(to: table, in: snapshot).execute() {
            var writer = JSONWriter()
            try encoder.write(try #require(try table.find(key)), plan, to: &writer)
            lines.append(String(decoding: writer.bytes, as: UTF8.self))
        }
        return lines
    }

    /// Everything that a stream makes, with the length of its longest chunk.
    private static func text(
        _ rows: StreamRows, _ format: ExportFormat, helpers: Int
    ) throws -> (text: String, longest: Int) {
        let stream = ExportStream(rows, version: "1", format: format)
        stream.helpers = ScanHelpers(limit: helpers)
        var (bytes, longest) = ([UInt8](), 0)
        try stream.forEachChunk { chunk in
            bytes += chunk
            longest = max(longest, chunk.count)
        }
        return (String(decoding: bytes, as: UTF8.self), longest)
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 20))
    func `are the same, whoever has written them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let realm = try LineStreamTests.realm(6000, &random)
        let snapshot = realm.store.current
        let (first, second) = (try LineStreamTests.lines("A", in: snapshot), try LineStreamTests.lines("B", in: snapshot))
        for helpers in [0, 1, 3, 3] {
            let (lines, longest) = try LineStreamTests.text(StreamRows(allOf: snapshot), .ndjson, helpers: helpers)
            let parts = lines.split(separator: "\n").map(String.init)
            #expect(Array(parts.dropFirst().dropLast()) == first + second, "seed \(seed), \(helpers) helpers")
            #expect(parts.last == #"{"$end":{"objects":\#(first.count + second.count)}}"#)
            #expect(longest < 200 << 10, "a chunk of \(longest) bytes")

            let document = try LineStreamTests.text(StreamRows(allOf: snapshot), .json, helpers: helpers).text
            let objects = #""objects":{"A":[\#(first.joined(separator: ","))],"B":[\#(second.joined(separator: ","))],"C":[]}}"#
            #expect(document.hasSuffix(objects), "seed \(seed), \(helpers) helpers")
        }
        try realm.close()
    }

    @Test(arguments: [0, 3])
    func `have the order that was asked for`(helpers: Int) throws {
        var random = SeededGenerator(seed: 7)
        let realm = try LineStreamTests.realm(3000, &random)
        let snapshot = realm.store.current
        let table = try #require(snapshot.classTable(named: "A"))
        let query = try Query.parse("n > 17 SORT(text ASC, n DESC)")
        let keys = try query.bind(to: table, in: snapshot).execute()
        let rows = try StreamRows(query, of: table, .init(), in: snapshot)
        let parts = try LineStreamTests.text(rows, .ndjson, helpers: helpers).text.split(separator: "\n").map(String.init)
        #expect(Array(parts.dropFirst().dropLast()) == (try LineStreamTests.lines("A", in: snapshot, keys: keys)))
        try realm.close()
    }

    @Test func `that nobody reads any more leave the helpers and their version`() throws {
        var random = SeededGenerator(seed: 8)
        let realm = try LineStreamTests.realm(6000, &random)
        let helpers = ScanHelpers(limit: 2)
        for chunks in [1, 2, 5] {
            var stream: ExportStream? = ExportStream(try StreamRows(allOf: realm.store.current), version: "1", format: .ndjson)
            stream?.helpers = helpers
            for _ in 0..<chunks { #expect(try stream?.produce(into: OutputBuffer()) == false) }
            let key = try #require(try realm.transaction.table(named: "class_B")?.key)
            _ = try realm.transaction.createObject(in: key)
            try realm.commit()
            #expect(realm.store.liveVersionCount == 2)
            stream = nil
            #expect(eventually { helpers.busy == 0 && realm.store.liveVersionCount == 1 })
        }
        try realm.close()
    }

    @Test func `of one object that is too long end the stream, with or without helpers`() throws {
        var random = SeededGenerator(seed: 9)
        let realm = try LineStreamTests.realm(6000, &random)
        for limit in [0, 3] {
            let budget = WorkBudget()
            budget.byteLimit = 10_000
            let stream = ExportStream(try StreamRows(allOf: realm.store.current, budget: budget), version: "1", format: .ndjson)
            let helpers = ScanHelpers(limit: limit)
            stream.helpers = helpers
            #expect(throws: StorageError.stopped(.tooManyBytes(limit: 10_000))) { try stream.forEachChunk { _ in } }
            #expect(eventually { helpers.busy == 0 })
        }
        try realm.close()
    }

    @Test func `before one that cannot be written are sent, with or without helpers`() throws {
        var random = SeededGenerator(seed: 11)
        let realm = try LineStreamTests.realm(6000, &random, longest: (row: 5000, length: 20_000))
        var lengths: [Int] = []
        for limit in [0, 3, 3, 3] {
            let budget = WorkBudget()
            budget.byteLimit = 10_000
            let stream = ExportStream(try StreamRows(allOf: realm.store.current, budget: budget), version: "1", format: .ndjson)
            stream.helpers = ScanHelpers(limit: limit)
            var length = 0
            #expect(throws: StorageError.stopped(.tooManyBytes(limit: 10_000))) { try stream.forEachChunk { length += $0.count } }
            lengths.append(length)
        }
        #expect(lengths[0] > 300_000 && Set(lengths).count == 1, "\(lengths)")
        try realm.close()
    }

    @Test func `that are longer than what is written ahead are complete`() throws {
        var random = SeededGenerator(seed: 12)
        let realm = try LineStreamTests.realm(3000, &random, longest: (row: 2000, length: 3 << 20))
        let expected = try LineStreamTests.lines("A", in: realm.store.current)
        for helpers in [0, 3] {
            let lines = try LineStreamTests.text(StreamRows(allOf: realm.store.current), .ndjson, helpers: helpers).text
            #expect(Array(lines.split(separator: "\n").map(String.init).dropFirst().prefix(expected.count)) == expected)
        }
        try realm.close()
    }

    @Test func `what two threads have written of a batch is taken once`() throws {
        var random = SeededGenerator(seed: 10)
        let realm = try LineStreamTests.realm(600, &random)
        let keys = try Query.parse("TRUEPREDICATE").bind(
            to: try #require(realm.store.current.classTable(named: "A")), in: realm.store.current
        ).execute()
        let queue = BatchQueue()
        for part in 0..<2 { queue.add(RowBatch(part: part, rows: .keys(keys[0..<10]))) }
        let first = try #require(queue.dequeue())
        let second = try #require(queue.dequeue())
        #expect(queue.dequeue() == nil)
        #expect(queue.firstBatch?.number == first.number)
        let rest = RowBatch(part: 0, rows: .keys(keys[5..<10]))
        let lines = BatchLines(part: 0, bytes: OutputBuffer(), count: 5, rest: rest)
        queue.store(lines, at: first.number)
        #expect(queue.removeFirst()?.count == 5)
        // The slower thread is late, and what is left of the batch must not be taken for written.
        queue.store(lines, at: first.number)
        #expect(queue.removeFirst() == nil)
        let left = try #require(queue.dequeue())
        #expect(left.number != first.number && left.number != second.number)
        queue.store(BatchLines(part: 1, bytes: OutputBuffer(), count: 10, rest: nil), at: second.number)
        #expect(queue.removeFirst() == nil)
        queue.store(BatchLines(part: 0, bytes: OutputBuffer(), count: 4, rest: nil), at: left.number)
        #expect(queue.removeFirst()?.count == 4)
        #expect(queue.removeFirst()?.part == 1)
        #expect(queue.count == 0)
        try realm.close()
    }
}
