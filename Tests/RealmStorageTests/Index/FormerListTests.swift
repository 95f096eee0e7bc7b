// SPDX-License-Identifier: Apache-2.0

@testable import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Index lists in the order of older formats")
struct FormerListTests {
    /// Texts that share their first 204 bytes and go on with a few letters of both cases, with a few others.
    private static func text(_ random: inout SeededGenerator) -> [UInt8] {
        if Int.random(in: 0..<12, using: &random) == 0 { return Array("short".utf8) }
        let prefix = [UInt8](repeating: 0x61, count: 204)
        let letters = Array("aAbBcC".utf8)
        let count = Int.random(in: 0...2, using: &random)
        return prefix + (0..<count).map { _ in letters.randomElement(using: &random) ?? 0x61 }
    }

    /// The texts of the objects of an index.
    private final class Model {
        var texts: [ObjectKey: ByteStorage] = [:]
        func value(_ object: ObjectKey) -> Value { texts[object].map { .string($0.view) } ?? .null }
    }

    @Test(arguments: TestRun.seeds(quick: 12, long: 400))
    func `Whatever is written, equal values stay neighbours, and the reference engine finds all of them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = try IndexScratch()
        let model = Model()
        let capacity = [3, 8, 1000].randomElement(using: &random) ?? 3
        let writer = SearchIndexWriter(scratch.writes, isMixed: seed % 5 == 0, capacity: .small(capacity)) {
            (object) throws(StorageError) in model.value(object)
        }
        for key in 0..<Int64.random(in: 2...40, using: &random) {
            model.texts[ObjectKey(key * 3)] = ByteStorage(FormerListTests.text(&random))
        }
        var root = try writer.build(model.texts.keys.map { (model.value($0), $0) })
        try FormerLists.age(root, scratch.writes) { model.texts[$0]?.view.array ?? [] }
        for step in 0..<150 {
            if step % 11 == 10 {
                // What is learned of a list while it lacks an object must not outlive the return of the object.
                let (texts, before, savepoint) = (model.texts, root, scratch.writes.savepoint())
                for _ in 0..<4 { root = try FormerListTests.change(root, model, writer, &random) }
                if Bool.random(using: &random) {
                    scratch.writes.rollBack(to: savepoint)
                    (model.texts, root) = (texts, before)
                }
            }
            root = try FormerListTests.change(root, model, writer, &random)
            if step % 10 == 9 { try check(root, model, scratch, "seed \(seed) capacity \(capacity) step \(step)") }
        }
        try check(root, model, scratch, "seed \(seed) capacity \(capacity)")
    }

    /// Adds, moves or removes an object, or adds several together.
    private static func change(
        _ root: Ref, _ model: Model, _ writer: SearchIndexWriter, _ random: inout SeededGenerator
    ) throws -> Ref {
        let object = ObjectKey(Int64.random(in: 0..<150, using: &random))
        let new = ByteStorage(text(&random))
        switch (Int.random(in: 0..<6, using: &random), model.texts[object]) {
        case (0, _):
            let last = model.texts.keys.max()?.rawValue ?? 0
            let added = (1...Int64.random(in: 2...9, using: &random)).map { ObjectKey(last + $0) }
            for key in added { model.texts[key] = ByteStorage(text(&random)) }
            return try writer.insert(added.map { (model.value($0), $0) }, into: root)
        case (1, let old?), (2, let old?):
            let rest = try #require(try writer.erase(.string(old.view), object, from: root))
            model.texts[object] = nil
            return rest
        case (_, let old?):
            let moved = try #require(try writer.replace(.string(old.view), by: .string(new.view), object, in: root))
            model.texts[object] = new
            return moved
        case (_, nil):
            model.texts[object] = new
            return try writer.insert(.string(new.view), object, into: root)
        }
    }

    private func check(_ root: Ref, _ model: Model, _ scratch: IndexScratch, _ place: String) throws {
        var report = VerifyReport()
        var walker = IndexWalker(space: scratch.writes.space, place: place)
        var check = ValueIndexCheck(place: place, isMixed: false) { (object) throws(StorageError) in model.value(object) }
        try check.run(root, &walker, &report)
        #expect(
            report.errors.isEmpty && report.warnings.allSatisfy { $0.contains("order of an older format") }, "\(report.errors)")
        #expect(check.found == Set(model.texts.keys), "\(place)")
        let index = SearchIndex(root: root, space: scratch.writes.space)
        for (text, objects) in Dictionary(grouping: model.texts.keys, by: { model.texts[$0]?.view.array ?? [] }) {
            let held = ByteStorage(text)
            let value = Value.string(held.view)
            let found = try FormerLists.found(value, in: try index.candidates(for: value)) { model.value($0) }
            #expect(found == objects.sorted(), "\(place): \(text.count) bytes")
        }
    }

    // MARK: - Files

    /// A class of objects whose texts share their first 204 bytes, with an index whose list is in the former order.
    private static func fill(_ realm: ScratchRealm, isPrimaryKey: Bool) throws -> TableKey {
        let transaction = realm.transaction
        let table = try transaction.createTable("class_Long")
        let key = try transaction.addColumn(ColumnDefinition("text", .string, index: isPrimaryKey ? nil : .general), to: table)
        if isPrimaryKey { try transaction.setPrimaryKey(key, of: table) }
        let column = try #require(try transaction.table(table).column(named: "text"))
        for tail in ["a", "A", "b", "B"] {
            let text = ByteStorage(String(repeating: "a", count: 250) + tail)
            _ = try transaction.createObject(in: table, values: [.string(text.view)])
            withExtendedLifetime(text) {}
        }
        let root = try transaction.table(table).indexRoot(column)
        try FormerLists.age(root, transaction.writes) { object in
            guard case .string(let text) = try transaction.value(column, of: object, in: table) else { return [] }
            return text.array
        }
        return table
    }

    @Test(arguments: [false, true])
    func `A file with such a list is sound, with a warning, and so it is after writes`(isPrimaryKey: Bool) throws {
        let realm = try ScratchRealm()
        let table = try FormerListTests.fill(realm, isPrimaryKey: isPrimaryKey)
        for snapshot in [try realm.commit(), try write(realm, table, isPrimaryKey: isPrimaryKey)] {
            for isExact in [false, true] {
                let report = snapshot.verify(isExact: isExact)
                #expect(report.isClean && report.warnings.count == 1, "\(report.errors) \(report.warnings)")
                #expect(report.warnings.first?.contains("in the order of an older format") == true)
            }
        }
    }

    private func write(_ realm: ScratchRealm, _ table: TableKey, isPrimaryKey: Bool) throws -> Snapshot {
        let transaction = realm.transaction
        let tails = isPrimaryKey ? ["C", "c", "bb"] : ["B", "C", "c", "a", "A", "bb"]
        let texts = tails.map { ByteStorage(String(repeating: "a", count: 250) + $0) }
        for text in texts { _ = try transaction.createObject(in: table, values: [.string(text.view)]) }
        let snapshot = try realm.commit()
        let read = try #require(snapshot.table(named: "class_Long"))
        for (tail, text) in zip(tails, texts) {
            let value = Value.string(text.view)
            let count = ["a", "A", "b", "B"].contains(tail) ? 2 : 1
            #expect(try read.indexedKeys(column(in: read), equalTo: value).count == count, "\(tail)")
            if isPrimaryKey { #expect(try read.findByPrimaryKey(value) != nil) }
        }
        return snapshot
    }

    private func column(in table: Table) throws -> Column { try #require(table.column(named: "text")) }

    @Test func `Equal values that are apart, or not in the order of their objects, are damage`() throws {
        let scratch = try IndexScratch()
        let writer = SearchIndexWriter(scratch.writes, isMixed: false) { (_) throws(StorageError) in .null }
        let prefix = String(repeating: "a", count: 250)
        let storages = ["a", "a", "b"].map { ByteStorage(prefix + $0) }
        for (order, message) in [
            ([0, 2, 1], "equal values that are not neighbours"), ([1, 0, 2], "out of order at object 0"),
            ([2, 1, 0], "out of order at object 0"), ([2, 0, 1], ""),
        ] {
            let root = try writer.build(storages.indices.map { (.string(storages[$0].view), ObjectKey(Int64($0))) })
            var list = try writable(list: SearchIndex(root: root, space: scratch.writes.space), storages[0], scratch)
            for (index, object) in order.enumerated() { try list.set(index, Int64(object)) }
            var report = VerifyReport()
            var walker = IndexWalker(space: scratch.writes.space, place: "index")
            var check = ValueIndexCheck(place: "index", isMixed: false) { (object) throws(StorageError) in
                .string(storages[Int(object.rawValue)].view)
            }
            try check.run(root, &walker, &report)
            #expect(
                message.isEmpty ? report.isClean : report.errors.contains { $0.contains(message) }, "\(order) \(report.errors)")
            #expect(report.warnings.count == (message.isEmpty ? 1 : 0), "\(order)")
        }
    }

    private func writable(list index: SearchIndex, _ text: ByteStorage, _ scratch: IndexScratch) throws -> MutableNode {
        guard case .list(let tree) = try index.filed(under: .string(text.view)) else { throw Missing() }
        return try scratch.writes.writable(tree.root)
    }

    private struct Missing: Error {}

    @Test func `Texts and data of the same bytes, which older formats mixed in a list, are no damage`() throws {
        let scratch = try IndexScratch()
        let text = ByteStorage("same")
        let values: [Value] = [.string(text.view), .binary(text.view), .string(text.view), .binary(text.view)]
        let writer = SearchIndexWriter(scratch.writes, isMixed: true) { (object) throws(StorageError) in
            values[Int(object.rawValue)]
        }
        let root = try writer.build(values.indices.map { (values[$0], ObjectKey(Int64($0))) })
        var list = try writable(list: SearchIndex(root: root, space: scratch.writes.space), text, scratch)
        for index in values.indices { try list.set(index, Int64(index)) }
        var report = VerifyReport()
        var walker = IndexWalker(space: scratch.writes.space, place: "index")
        var check = ValueIndexCheck(place: "index", isMixed: true) { (object) throws(StorageError) in values[Int(object.rawValue)]
        }
        try check.run(root, &walker, &report)
        #expect(report.isClean && report.warnings.count == 1, "\(report.errors)")
    }

    @Test func `A text of 200 bytes is told from one that goes on with the mark of an end`() throws {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let table = try transaction.createTable("class_Long")
        _ = try transaction.addColumn(ColumnDefinition("text", .string, index: .general), to: table)
        let short = ByteStorage([UInt8](repeating: 0x61, count: 200))
        let long = ByteStorage([UInt8](repeating: 0x61, count: 200) + [0x58, 0, 0, 0])
        for text in [long, short, long] { _ = try transaction.createObject(in: table, values: [.string(text.view)]) }
        let read = try #require(try realm.commit().table(named: "class_Long"))
        for (text, count) in [(short, 1), (long, 2)] {
            #expect(try read.indexedKeys(column(in: read), equalTo: .string(text.view)).count == count)
        }
    }
}
