// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Files made by hand to lead a reader or writer where nothing is: each was a crash, a loop or somebody else's bytes once.
@Suite("Hostile files")
struct HostileFileTests {
    private func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("hostile-\(UUID().uuidString).realm").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { for suffix in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        return try body(path)
    }

    private func editor(_ fixture: String) throws -> (FileEditor, Snapshot) {
        let path = try Fixtures.path(fixture)
        return (
            FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))), try Snapshot(file: try RealmFile(path: path))
        )
    }

    private func expectCorrupt(_ reason: String = "", _ body: () throws -> Void) {
        let error = #expect(throws: StorageError.self) { try body() }
        guard case .corrupt(_, let text)? = error else {
            Issue.record("\(String(describing: error)) is not about damage")
            return
        }
        #expect(reason.isEmpty || text.contains(reason), "\(text)")
    }

    private static let promise = "its parent promises more"

    // MARK: - Beyond a leaf

    /// An inner node promised 2^40 strings in its only leaf, and the column's indexes pointed far behind it: bytes of other
    /// files came back as values.
    @Test func `An enumerated string beyond its list is damage, not what lies in memory there`() throws {
        var (file, snapshot) = try editor("enumerated")
        let table = try #require(snapshot.classes.first { $0.columns.contains { $0.enumeration != nil } })
        let position = try #require(table.columns.firstIndex { $0.enumeration != nil })
        let column = table.columns[position]
        let name = try #require(table.className)
        let spec = file.child(file.table(name, in: snapshot), 0)
        let list = file.child(file.child(spec, 4), position)
        let rows = file.count(file.values(name, column.name, in: snapshot))
        let inner = file.append(flags: 0xc0, widthCode: 7, [1 << 41 | 1, Int64(list), 1 << 41 | 1])
        let indexes = file.append(flags: 0, widthCode: 7, (0..<rows).map { 1 << 30 + Int64($0) })
        file.relink([1, table.key.position, 0, 4], position, to: inner)
        file.relink([1, table.key.position, 2], column.leafIndex + 1, to: indexes)
        try withFile(file.bytes) { path in
            let snapshot = try Snapshot(file: try RealmFile(path: path))
            let table = try #require(snapshot.table(table.key))
            let first = try table.objects.leaf(for: ObjectKey(0))
            let leaf = try #require(first)
            let column = table.columns[position]
            expectCorrupt(HostileFileTests.promise) { _ = try leaf.value(column, row: 0) }
        }
    }

    /// `move`, `swap` and what asks for the links of an element read the leaf without a look at its count.
    @Test func `Writers do not follow a list beyond its last leaf`() throws {
        var (file, snapshot) = try editor("lists")
        let table = try #require(snapshot.classTable(named: "Parent"))
        let found = try longList(table)
        let (column, row, root) = try #require(found)
        var slots = (0..<file.count(root)).map { Int64(bitPattern: file.element(root, $0)) }
        if file.width(root) < 64 { slots = slots.map { $0 & (1 << Int64(file.width(root)) - 1) } }
        slots[slots.count - 1] = 1 << 41 | 1
        let inner = file.append(flags: 0xc0, widthCode: 7, slots)
        file.relink([1, table.key.position, 2, column.leafIndex + 1], row, to: inner)
        try withFile(file.bytes) { path in
            let store = try FileStore.open(path: path)
            let transaction = try store.beginTransaction()
            defer { transaction.end() }
            let key = try transaction.object(at: row, in: table.key)
            let object = try #require(key)
            let present = try transaction.table(table.key).column(named: column.name)
            let column = try #require(present)
            let place = CollectionPlace(table.key, object, column)
            let last = 1 << 40 - 1
            expectCorrupt(HostileFileTests.promise) { try transaction.moveElement(from: last, to: 0, in: place) }
            expectCorrupt(HostileFileTests.promise) { try transaction.swapElements(last, 0, in: place) }
            expectCorrupt(HostileFileTests.promise) { try transaction.eraseElement(at: last, in: place) }
            expectCorrupt(HostileFileTests.promise) { try transaction.setElement(.null, at: last, in: place) }
            expectCorrupt(HostileFileTests.promise) {
                _ = try transaction.storedLinks(at: last, in: Ref(UInt64(inner)), .list(column.elementShape))
            }
        }
    }

    private func longList(_ table: Table) throws -> (Column, Int, Int)? {
        guard let leaf = try table.objects.leaf(for: ObjectKey(0)) else { return nil }
        for column in table.columns where column.collection == .list {
            for row in 0..<leaf.count {
                let root = try leaf.collectionRoot(column, row: row)
                if !root.isNone, try leaf.space.node(at: root).isInner { return (column, row, Int(root.rawValue)) }
            }
        }
        return nil
    }

    @Test func `A tree that claims more elements than any file holds is damage`() throws {
        let scratch = try TreeScratch("lists")
        let inner = try scratch.writes.makeIntegers([3, 24, .max], .inner).ref
        expectCorrupt("a tree of") { _ = try BPlusTree(root: inner, space: scratch.writes.space, shape: .mixed) }
        let cluster = try scratch.writes.makeIntegers([0, 3, .max, 24], .inner).ref
        expectCorrupt("a cluster tree of") { _ = try ClusterTree(root: cluster, space: scratch.writes.space).count() }
    }

    // MARK: - Schema arrays

    @Test(arguments: [0, 1, 3])
    func `Opposite tables and columns of different number are damage, whatever a write would do with them`(_ count: Int) throws {
        var (file, snapshot) = try editor("links")
        let columns = file.child(file.table("Person", in: snapshot), 8)
        file.setCount(columns, count)
        try withFile(file.bytes) { path in
            expectCorrupt("opposite") { _ = try Snapshot(file: try RealmFile(path: path)) }
        }
    }

    @Test func `A link column and a backlink column name each other`() throws {
        var (file, snapshot) = try editor("links")
        let table = try #require(snapshot.classTable(named: "Dog"))
        let column = try #require(table.columns.first { $0.type == .link })
        let target = try #require(column.targetTable.flatMap { snapshot.table($0) })
        let opposite = try #require(column.oppositeColumn)
        let name = try #require(target.className)
        let columns = file.child(file.table(name, in: snapshot), 8)
        file.setElement(columns, opposite.leafIndex, file.element(columns, opposite.leafIndex) ^ 1)
        try withFile(file.bytes) { path in
            expectCorrupt("do not name each other") { _ = try Snapshot(file: try RealmFile(path: path)) }
        }
    }

    @Test func `Tables do not share the nodes of their schema`() throws {
        var (file, snapshot) = try editor("links")
        let (first, second) = (file.table("Person", in: snapshot), file.table("Dog", in: snapshot))
        file.setElement(first, 4, file.element(second, 4))
        try withFile(file.bytes) { path in
            expectCorrupt("shares a node") { _ = try Snapshot(file: try RealmFile(path: path)) }
        }
    }

    @Test func `A table without object keys left makes no tombstones of new objects`() throws {
        let realm = try ScratchRealm()
        let key = try realm.transaction.createTable("class_A")
        try realm.transaction.update(key) { $0.objectSequence = UInt64(Int64.max) }
        expectCorrupt("no object keys left") { _ = try realm.transaction.createObject(in: key) }
    }

    // MARK: - Shared nodes and circles

    /// Nested lists whose children are the same: 2^40 elements in a few nodes.
    @Test func `Lists that share their children end as damage wherever all of them are walked`() throws {
        let realm = try ScratchRealm()
        let key = try realm.transaction.createTable("class_M")
        try realm.transaction.addColumn(ColumnDefinition("m", .mixed), to: key)
        let writer = BPlusTreeWriter(realm.transaction.writes, .mixed)
        var root = try writer.append(.int(1), to: .none)
        for _ in 0..<40 { root = try writer.append(contentsOf: [.list(root), .list(root)], to: .none) }
        expectCorrupt("share") { _ = try realm.transaction.storedLinks(in: root, .list(.mixed)) }
        expectCorrupt { try realm.transaction.writes.discardTree(root) }
    }

    @Test func `Collections nested in themselves end as damage where links in them are edited`() throws {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let key = try transaction.createTable("class_M")
        let column = try transaction.addColumn(ColumnDefinition("m", .mixed), to: key)
        let (origin, target) = (try transaction.createObject(in: key), try transaction.createObject(in: key))
        let made = try transaction.table(key).column(column)
        let known = try #require(made)
        try transaction.set(.list(.none), known, of: origin, in: key)
        try transaction.insert(.link(key, target), at: 0, in: CollectionPlace(key, origin, known))
        try transaction.set(.list(.none), known, of: origin, in: key)
        // A record without a link, and a list that holds itself.
        _ = try transaction.addBacklink(to: WriteTransaction.StoredLink(table: key, object: target), from: origin, known, in: key)
        try transaction.insert(.list(.none), at: 0, in: CollectionPlace(key, origin, known))
        let (root, form) = try transaction.collection(at: CollectionPlace(key, origin, known))
        _ = try transaction.setNestedRoot(root, at: 0, in: root, form)
        expectCorrupt("deeper than") { try transaction.deleteObject(target, in: key) }
    }

    /// Each visit of one node put thousands of refs on a list before the first was counted.
    @Test func `Refs to the same node do not fill the memory`() throws {
        let scratch = try TreeScratch("lists")
        let child = try scratch.writes.makeIntegers([1]).ref
        let ref = try scratch.writes.makeRefs(Array(repeating: child, count: 30_000))
        let node = try scratch.writes.node(at: ref)
        var pending = PendingRefs(scratch.writes.space)
        expectCorrupt("more refs") { for _ in 0..<1_000 { try pending.addChildren(of: node) } }
        expectCorrupt { try scratch.writes.discardTree(ref) }
    }

    @Test func `A node that is given up twice is given up once, and nobody reads what came in its place`() throws {
        let scratch = try TreeScratch("lists")
        let node = try scratch.writes.makeIntegers([1, 2, 3])
        try scratch.writes.discard(node.ref)
        scratch.writes.discard(node.node)
        #expect(throws: StorageError.self) { try scratch.writes.discard(node.ref) }
        let first = try scratch.writes.makeIntegers([4, 5, 6]).ref
        let second = try scratch.writes.makeIntegers([7, 8, 9]).ref
        #expect(first != second)
    }

    @Test func `Inner nodes that are their own only children do not hold a shrinking tree up`() throws {
        let scratch = try TreeScratch("lists")
        let writes = scratch.writes
        // Wide from the start: a node that grows moves.
        var circle = try writes.makeNode(.inner, widthCode: 7, count: 3)
        for (slot, value) in [3, Int64(circle.ref.rawValue), 3].enumerated() { try circle.set(slot, value) }
        let tree = BPlusTreeWriter(writes, ElementShape(type: .int, isNullable: false))
        let leaf = try tree.append(.int(1), to: .none)
        let root = try writes.makeIntegers([3, Int64(leaf.rawValue), Int64(circle.ref.rawValue), 5], .inner).ref
        expectCorrupt("levels") { _ = try tree.erase(at: 0, in: root) }

        var inner = try writes.makeNode(.inner, widthCode: 7, count: 4)
        for (slot, value) in [0, 3, 3, Int64(inner.ref.rawValue)].enumerated() { try inner.set(slot, value) }
        let cluster = ClusterWriter(writes, columns: [])
        let rows = try cluster.insert(ObjectKey(0), in: .none)
        let top = try writes.makeIntegers([0, 3, 5, Int64(inner.ref.rawValue), Int64(rows.rawValue)], .inner).ref
        #expect(try cluster.erase(ObjectKey(256), in: top) == inner.ref)
    }

    /// Eight levels of 256 children each that are the same node.
    @Test func `A cluster tree whose nodes share their children is not rewritten`() throws {
        let scratch = try TreeScratch("lists", arenaByteCount: 1 << 30)
        let cluster = ClusterWriter(scratch.writes, columns: [])
        var ref = try cluster.insert(ObjectKey(0), in: .none)
        for depth in 1...6 {
            let head: [Int64] = [0, Int64(depth << 1 | 1), 1 << 40 | 1]
            let slots = head + Array(repeating: Int64(ref.rawValue), count: 200)
            ref = try scratch.writes.makeIntegers(slots, .inner).ref
        }
        let start = ContinuousClock.now
        expectCorrupt("share") { _ = try cluster.removeColumn(leafIndex: 0, in: ref) }
        #expect(ContinuousClock.now - start < .seconds(10))
    }
}

/// What `verify` finds although it does a reader no harm.
@Suite("Verify")
struct VerifyDetailTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let fixture: String
        let expected: String
        let edit: @Sendable (inout FileEditor, Snapshot) throws -> Void
        var testDescription: String { what }
    }

    private static let cases = [
        Case(what: "ends of null values", fixture: "binaries", expected: "ends outside its bytes") { file, snapshot in
            let leaf = try medium(file, snapshot)
            file.setElement(file.child(leaf, 0), try #require(laterNull(leaf, file)), 0)
        },
        Case(what: "booleans", fixture: "types-single", expected: "a boolean is stored as 2") { file, snapshot in
            let leaf = file.values("AllOptional", "boolValue", in: snapshot)
            file.setElement(leaf, 0, 2)
        },
        Case(what: "padding", fixture: "strings", expected: "padded with zeros") { file, snapshot in
            let cells = file.values("Text", "upTo3", in: snapshot)
            let width = file.width(cells)
            let row = try #require(
                (0..<file.count(cells)).first { (1..<width).contains(Int(file.bytes[cells + 8 + ($0 + 1) * width - 1])) })
            file.bytes[cells + 8 + (row + 1) * width - 2] = 0x41
        },
        Case(what: "names", fixture: "links", expected: "padded with zeros") { file, snapshot in
            let names = file.child(file.top, 0)
            let width = file.width(names)
            let row = try #require((0..<file.count(names)).first { file.bytes[names + 8 + ($0 + 1) * width - 1] > 0 })
            file.bytes[names + 8 + (row + 1) * width - 2] = 0x41
        },
        Case(what: "blocks released in the future", fixture: "random-3", expected: "released by version") { file, _ in
            file.setElement(file.top, 6, 0)
        },
        Case(what: "column keys", fixture: "links", expected: "impossible key") { file, snapshot in
            let keys = file.child(file.child(file.table("Person", in: snapshot), 0), 5)
            file.setElement(keys, 0, file.element(keys, 0) | 1 << 63)
        },
        Case(what: "embedded objects in circles", fixture: "links", expected: "embedded objects hold themselves") {
            file, snapshot in
            file.setElement(file.table("Person", in: snapshot), 12, 3)
        },
        Case(what: "the primary key's key", fixture: "links", expected: "primary key is not a column") { file, snapshot in
            let table = file.table("Person", in: snapshot)
            file.setElement(table, 11, file.element(table, 11) ^ 1 << 40)
        },
    ].filter { Fixtures.names.contains($0.fixture) }

    /// A null behind values that are not empty.
    private static func laterNull(_ leaf: Int, _ file: FileEditor) -> Int? {
        let (ends, nulls) = (file.child(leaf, 0), file.child(leaf, 2))
        return (1..<max(file.count(nulls), 1)).first { file.element(nulls, $0) != 0 && file.element(ends, $0 - 1) != 0 }
    }

    /// The first leaf of short binaries with such a null.
    private static func medium(_ file: FileEditor, _ snapshot: Snapshot) throws -> Int {
        for table in snapshot.classes {
            for column in table.columns where column.type == .binary && column.collection == nil && column.isNullable {
                let leaf = file.values(table.className ?? "", column.name, in: snapshot)
                guard file.bytes[leaf + 4] & 0x20 == 0, file.count(leaf) == 3 else { continue }
                if laterNull(leaf, file) != nil { return leaf }
            }
        }
        throw StorageError.limit("no such leaf")
    }

    @Test(arguments: cases)
    private func `finds it`(_ row: Case) throws {
        let path = try Fixtures.path(row.fixture)
        var file = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        try row.edit(&file, try Snapshot(file: try RealmFile(path: path)))
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("detail-\(UUID().uuidString).realm").path
        try Data(file.bytes).write(to: URL(fileURLWithPath: copy))
        defer { try? FileManager.default.removeItem(atPath: copy) }
        var found: [String] = []
        do {
            found = try Snapshot(file: try RealmFile(path: copy)).verify().errors
        } catch {
            found = ["\(error)"]
        }
        #expect(found.contains { $0.contains(row.expected) }, "\(found)")
    }
}
