// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct DictionaryWriterTests {
    /// A dictionary with its model: entries by ascending key bytes.
    private struct Subject {
        let scratch: TreeScratch
        let writer: DictionaryWriter
        let nested: BPlusTreeWriter
        var root = Ref.none
        var model: [(key: String, value: String)] = []
        let maker = ValueMaker()

        init() throws {
            scratch = try TreeScratch()
            writer = DictionaryWriter(scratch.writes, leafCapacity: 6, fanOut: 4)
            nested = BPlusTreeWriter(scratch.writes, .mixed, leafCapacity: 4, fanOut: 4)
        }

        mutating func set(_ key: String, _ value: Value) throws {
            let change = try writer.set(key, value, in: root)
            root = change.root
            let known = model.firstIndex { $0.key == key }
            #expect(change.isNew == (known == nil))
            if let known {
                model[known].value = Subject.plain(value)
            } else {
                model.append((key, Subject.plain(value)))
                model.sort { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
            }
            #expect(model[change.index].key == key)
        }

        /// Roots move, so a nested collection counts by its kind.
        static func plain(_ value: Value) -> String {
            switch value {
            case .list: return "list"
            case .dictionary: return "dictionary"
            default: return value.plain
            }
        }

        func check(_ what: String) throws {
            let view = try DictionaryView(root: root, space: scratch.writes.space)
            var entries = view.entries()
            var stored: [(key: String, value: String)] = []
            while let entry = try entries.next() { stored.append((entry.key.bytes.string, Subject.plain(entry.value))) }
            #expect(stored.map(\.key) == model.map(\.key), "\(what)")
            #expect(stored.map(\.value) == model.map(\.value), "\(what)")
            #expect(try writer.entries(root).map(\.key) == model.map(\.key), "\(what)")
            for index in model.indices { #expect(try writer.position(of: model[index].key, in: root) == index, "\(what)") }
            try scratch.expectNothingLost(old: [], new: [root], what)
        }
    }

    @Test(arguments: 1...4)
    func `A dictionary keeps its entries by ascending key bytes`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var subject = try Subject()
        for step in 0..<600 {
            let number = Int.random(in: 0..<150, using: &random)
            let key =
                number == 0
                ? "" : number % 9 == 0 ? "ß\(number)" : number % 13 == 0 ? String(repeating: "k", count: number) : "k\(number)"
            if subject.model.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
                try subject.set(key, try value(step, subject, &random))
            } else {
                let index = Int.random(in: 0..<subject.model.count, using: &random)
                subject.root = try subject.writer.erase(at: index, in: subject.root)
                subject.model.remove(at: index)
            }
            if step % 100 == 99 { try subject.check("seed \(seed) step \(step)") }
        }
        while !subject.model.isEmpty {
            subject.root = try subject.writer.erase(at: subject.model.count / 2, in: subject.root)
            subject.model.remove(at: subject.model.count / 2)
        }
        try subject.check("seed \(seed) emptied")
    }

    private func value(_ step: Int, _ subject: Subject, _ random: inout SeededGenerator) throws -> Value {
        switch step % 11 {
        case 0: return .list(try subject.nested.append(contentsOf: (0..<step % 30).map { .int(Int64($0)) }, to: .none))
        case 1: return .dictionary(try subject.writer.set("inner", .int(Int64(step)), in: .none).root)
        case 2: return .list(.none)
        default: return subject.maker.value(.mixed, using: &random)
        }
    }

    @Test(
        arguments: [
            "store", "links", "mixed", "unresolved", "types-dictionary", "random-1", "random-3",
        ].filter { Fixtures.names.contains($0) })
    func `Dictionaries of a file change, and their old nodes are freed once`(fixture: String) throws {
        let source = try TreeScratch(fixture)
        for table in source.snapshot.tables {
            for column in table.columns where column.collection == .dictionary {
                var cursor = table.objects.leaves()
                while let leaf = try cursor.next() {
                    for row in 0..<min(leaf.count, 5) {
                        try change(try leaf.collectionRoot(column, row: row), fixture)
                    }
                }
            }
        }
        withExtendedLifetime(source) {}
    }

    private func change(_ old: Ref, _ fixture: String) throws {
        let scratch = try TreeScratch(fixture)
        let writer = DictionaryWriter(scratch.writes)
        var model: [String: String] = [:]
        for entry in try writer.entries(old) { model[entry.key] = Subject.plain(entry.value) }
        var root = old
        for (index, key) in (model.keys.sorted() + ["new", "newer"]).enumerated() {
            if index % 3 == 2, let position = try writer.position(of: key, in: root) {
                root = try writer.erase(at: position, in: root)
                model[key] = nil
            } else {
                root = try writer.set(key, .int(Int64(index)), in: root).root
                model[key] = Subject.plain(.int(Int64(index)))
            }
        }
        let entries = try writer.entries(root)
        #expect(entries.count == model.count && entries.allSatisfy { model[$0.key] == Subject.plain($0.value) }, "\(fixture)")
        try scratch.expectNothingLost(old: [old], new: [root], fixture)
        try scratch.writes.discardTree(root)
        try scratch.expectNothingLost(old: [old], new: [], fixture)
    }

    /// Files of formats below 23 kept dictionaries under hashed keys; their upgrade left the entries in that order, and a
    /// search that halves such a tree would miss most of them. The file here is made so by hand: in a node of short
    /// strings of a fixture the first key is overwritten.
    @Test func `Keys in another order are found, and sorted by the first change`() throws {
        let editor = try UnsortedDictionary()
        let writes = WriteSpace(base: editor.snapshot.space, arena: try NodeArena(byteCount: 1 << 24))
        let writer = DictionaryWriter(writes)
        let before = try writer.entries(editor.root).map(\.key)
        #expect(before != before.sorted())
        for (index, key) in before.enumerated() {
            #expect(try writer.position(of: key, in: editor.root) == index)
        }
        let erased = try writer.erase(at: 0, in: editor.root)
        #expect(try writer.entries(erased).map(\.key) == before.dropFirst().sorted())
        let added = try writer.set("mm", .int(1), in: editor.root).root
        #expect(try writer.entries(added).map(\.key) == (before + ["mm"]).sorted())
        let changed = try writer.set(before[0], .int(7), in: editor.root)
        #expect(!changed.isNew)
        #expect(try writer.entries(changed.root).map(\.key) == before.sorted())
    }
}

/// A file with a dictionary whose first key was overwritten, so that it sorts last.
private struct UnsortedDictionary {
    let snapshot: Snapshot
    let root: Ref

    init() throws {
        let source = try TreeScratch("mixed")
        let found = try #require(try UnsortedDictionary.find(source.snapshot))
        withExtendedLifetime(source) {}
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("mixed")))))
        editor.set(UInt64(UInt8(ascii: "~")), at: Int(found.keys.rawValue) + 8, byteCount: 1)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("unsorted-\(UUID().uuidString).realm")
        try Data(editor.bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        snapshot = try Snapshot(file: try RealmFile(path: path.path))
        root = found.root
    }

    /// A dictionary of three or more short keys.
    private static func find(_ snapshot: Snapshot) throws -> (root: Ref, keys: Ref)? {
        for table in snapshot.tables {
            for column in table.columns where column.collection == .dictionary {
                var cursor = table.objects.leaves()
                while let leaf = try cursor.next() {
                    for row in 0..<leaf.count {
                        let root = try leaf.collectionRoot(column, row: row)
                        guard !root.isNone else { continue }
                        let keys = try snapshot.space.node(at: try snapshot.space.node(at: root).requiredRef(0, "keys"))
                        if !keys.hasRefs, keys.count >= 3, keys.width > 1 { return (root, keys.ref) }
                    }
                }
            }
        }
        return nil
    }
}
