// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// What the reference engine does in the same cases; every realm is verified at every commit.
@Suite("Writing objects")
struct WriteSemanticsTests {
    @Test func `keys of objects without primary key leave room for those of other devices`() throws {
        let realm = try ScratchRealm()
        let plain = try realm.transaction.createTable("class_Plain")
        try realm.transaction.addColumn(ColumnDefinition("n", .int), to: plain)
        let keyed = try realm.transaction.createTable("class_Keyed")
        let id = try realm.transaction.addColumn(ColumnDefinition("_id", .int), to: keyed)
        try realm.transaction.setPrimaryKey(id, of: keyed)
        var keys: [Int64] = []
        for number in 0..<300 {
            keys.append(try realm.transaction.createObject(in: plain).rawValue)
            let object = try realm.transaction.createObject(in: keyed, primaryKey: .int(Int64(number)))
            #expect(object.rawValue == Int64(number))
        }
        #expect(keys[255] == 255 && keys[256] == 65536 && keys[299] == 65536 + 43)
        try realm.commit()
        try realm.close()
    }

    @Test func `a name of a table is free again when its table is removed, renamed or rolled back`() throws {
        let store = try FileStore.inMemory()
        let transaction = try store.beginTransaction()
        let (first, second) = (try transaction.createTable("class_A"), try transaction.createTable("class_B"))
        #expect(throws: StorageError.self) { try transaction.createTable("class_A") }
        try transaction.renameTable(first, to: "class_C")
        let third = try transaction.createTable("class_A")
        #expect(throws: StorageError.self) { try transaction.createTable("class_C") }
        let savepoint = transaction.savepoint()
        _ = try transaction.createTable("class_D")
        transaction.rollBack(to: savepoint)
        _ = try transaction.createTable("class_D")
        try transaction.removeTable(second)
        let again = try transaction.createTable("class_B")
        #expect(again.position == second.position && again != second && third.position == 2)
        #expect(try transaction.commit().verify().errors == [])
        try store.close()
    }

    @Test(.timeLimit(.minutes(5))) func `the cost of a table does not depend on how many there are`() throws {
        let store = try FileStore.inMemory()
        let transaction = try store.beginTransaction()
        for number in 0..<20_000 { _ = try transaction.createTable("class_\(number)") }
        #expect(try transaction.commit().classes.count == 20_000)
        try store.close()
    }

    @Test func `a deleted object vanishes from all seven kinds of links`() throws {
        let realm = try ScratchRealm()
        let world = try LinkWorld(realm.transaction)
        let transaction = realm.transaction
        let target = try transaction.createObject(in: world.target)
        let other = try transaction.createObject(in: world.target)
        let origin = try transaction.createObject(in: world.origin)
        try world.link(origin, to: [target, other, target], transaction)
        try realm.commit()
        try realm.transaction.deleteObject(target, in: world.target)
        let snapshot = try realm.commit()
        let row = try #require(try snapshot.table(world.origin)?.find(origin))
        let table = try #require(snapshot.table(world.origin))
        #expect(try row.value(table.column(named: "one")!).isNull)
        #expect(try row.value(table.column(named: "any")!).isNull)
        #expect(try elements("list", row, table) == [.link(world.target, other)])
        #expect(try elements("set", row, table) == [.link(world.target, other)])
        #expect(try elements("anyList", row, table) == [.link(world.target, other)])
        #expect(try entries("map", row, table) == ["a": .null, "b": .link(world.target, other)])
        #expect(try entries("anyMap", row, table) == ["a": .null, "b": .link(world.target, other)])
        try realm.close()
    }

    @Test func `a list that holds an object twice is recorded twice`() throws {
        let realm = try ScratchRealm()
        let world = try LinkWorld(realm.transaction)
        let target = try realm.transaction.createObject(in: world.target)
        let origin = try realm.transaction.createObject(in: world.origin)
        let place = CollectionPlace(world.origin, origin, try world.column("list", realm.transaction))
        for _ in 0..<3 { try realm.transaction.insert(.link(world.target, target), at: 0, in: place) }
        try realm.commit()
        try realm.transaction.eraseElement(at: 1, in: place)
        let snapshot = try realm.commit()
        let table = try #require(snapshot.table(world.target))
        let row = try #require(try table.find(target))
        let counts = try table.backlinks.map { try row.leaf.backlinks($0, row: row.index).count }
        #expect(counts.reduce(0, +) == 2)
        try realm.close()
    }

    @Test func `embedded objects go with their owner, however deep`() throws {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let owner = try transaction.createTable("class_Owner")
        // A class for each level: embedded classes may not hold themselves.
        let levels = try (0...50).map { try transaction.createTable("class_Child\($0)", kind: .embedded) }
        for (level, next) in zip(levels, levels.dropFirst()) {
            try transaction.addColumn(ColumnDefinition("next", .link, target: next), to: level)
        }
        let child = levels[0]
        func count(_ transaction: WriteTransaction) throws -> Int {
            try levels.reduce(0) { try $0 + transaction.count(in: $1) }
        }
        for (name, kind) in [("one", nil), ("list", CollectionKind.list), ("map", .dictionary)] as [(String, CollectionKind?)] {
            try transaction.addColumn(ColumnDefinition(name, .link, collection: kind, target: child), to: owner)
        }
        let object = try transaction.createObject(in: owner)
        let columns = try transaction.table(owner)
        var last = try transaction.setEmbedded(columns.column(named: "one")!, of: object, in: owner)
        for level in levels.dropLast() {
            last = try transaction.setEmbedded(transaction.table(level).column(named: "next")!, of: last, in: level)
        }
        for index in 0..<2 {
            _ = try transaction.insertEmbedded(at: index, in: CollectionPlace(owner, object, columns.column(named: "list")!))
        }
        _ = try transaction.setEmbeddedEntry("k", in: CollectionPlace(owner, object, columns.column(named: "map")!))
        #expect(try count(transaction) == 54)
        try realm.commit()
        let list = CollectionPlace(owner, object, try realm.transaction.table(owner).column(named: "list")!)
        try realm.transaction.eraseElement(at: 0, in: list)
        #expect(try count(realm.transaction) == 53)
        try realm.transaction.deleteObject(object, in: owner)
        #expect(try count(realm.transaction) == 0)
        try realm.commit()
        try realm.close()
    }

    @Test func `a table at the place of a removed one has another key`() throws {
        let realm = try ScratchRealm()
        _ = try realm.transaction.createTable("class_A")
        let second = try realm.transaction.createTable("class_B")
        _ = try realm.transaction.createTable("class_C")
        try realm.commit()
        try realm.transaction.removeTable(second)
        try realm.commit()
        #expect(try realm.transaction.createTable("class_D").rawValue == 65537)
        #expect(try realm.commit().tables.map(\.name) == ["class_A", "class_D", "class_C"])
        try realm.close()
    }

    @Test func `links that waited for a primary key lead to the object that gets it`() throws {
        let path = NSTemporaryDirectory() + "realm-rest-ghost-\(getpid()).realm"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: try Fixtures.path("unresolved"), toPath: path)
        defer { for suffix in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let realm = try ScratchRealm(path: path)
        var revived = 0
        for table in realm.store.current.tables where table.hasTombstones {
            let column = try #require(table.primaryKey)
            var ghosts: [DetachedValue] = []
            var leaves = table.tombstones.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.count { ghosts.append(DetachedValue(try leaf.value(column, row: row))) }
            }
            for ghost in ghosts {
                let object = try realm.transaction.createObject(in: table.key, primaryKey: ghost.value)
                #expect(try realm.transaction.findByPrimaryKey(ghost.value, in: table.key) == object)
                revived += 1
            }
        }
        #expect(revived > 0)
        let snapshot = try realm.commit()
        for table in snapshot.tables { #expect(try table.tombstones.count() == 0, "\(table.name)") }
        try realm.close()
    }

    // MARK: - Helpers

    private func elements(_ name: String, _ row: Row, _ table: Table) throws -> [Plain] {
        let column = try #require(table.column(named: name))
        let root = try row.leaf.collectionRoot(column, row: row.index)
        var cursor = try ListView(root: root, space: row.leaf.space, shape: column.elementShape).elements()
        var values: [Plain] = []
        while let value = try cursor.next() { values.append(Plain(value)) }
        return values
    }

    private func entries(_ name: String, _ row: Row, _ table: Table) throws -> [String: Plain] {
        let column = try #require(table.column(named: name))
        let root = try row.leaf.collectionRoot(column, row: row.index)
        var entries: [String: Plain] = [:]
        let view = try DictionaryView(root: root, space: row.leaf.space)
        for index in 0..<view.count {
            if case .text(let key) = try view.key(at: index) { entries[key.string] = Plain(try view.value(at: index)) }
        }
        return entries
    }

    /// A value that can be compared.
    private enum Plain: Equatable {
        case null
        case double(Double)
        case link(TableKey, ObjectKey)
        case other

        init(_ value: Value) {
            switch value {
            case .null: self = .null
            case .double(let number): self = .double(number)
            case .link(let table, let object): self = .link(table, object)
            default: self = .other
            }
        }
    }

    /// A class with links of all kinds to another.
    private struct LinkWorld {
        let target: TableKey
        let origin: TableKey

        init(_ transaction: WriteTransaction) throws {
            target = try transaction.createTable("class_Target")
            try transaction.addColumn(ColumnDefinition("n", .int), to: target)
            origin = try transaction.createTable("class_Origin")
            for (name, kind) in [("one", nil), ("list", CollectionKind.list), ("set", .set), ("map", .dictionary)]
                as [(String, CollectionKind?)]
            {
                try transaction.addColumn(ColumnDefinition(name, .link, collection: kind, target: target), to: origin)
            }
            try transaction.addColumn(ColumnDefinition("any", .mixed, index: .general), to: origin)
            try transaction.addColumn(ColumnDefinition("anyList", .mixed, collection: .list), to: origin)
            try transaction.addColumn(ColumnDefinition("anyMap", .mixed, collection: .dictionary), to: origin)
        }

        func column(_ name: String, _ transaction: WriteTransaction) throws -> Column {
            try #require(try transaction.table(origin).column(named: name))
        }

        /// Links to the first in single properties, to all in lists and sets, to the first two in dictionaries.
        func link(_ object: ObjectKey, to targets: [ObjectKey], _ transaction: WriteTransaction) throws {
            for name in ["one", "any"] {
                try transaction.set(.link(target, targets[0]), column(name, transaction), of: object, in: origin)
            }
            for (index, one) in targets.enumerated() {
                for name in ["list", "anyList"] {
                    let place = CollectionPlace(origin, object, try column(name, transaction))
                    try transaction.insert(.link(target, one), at: index, in: place)
                }
                try transaction.insertMember(.link(target, one), in: CollectionPlace(origin, object, column("set", transaction)))
            }
            for name in ["map", "anyMap"] {
                let place = CollectionPlace(origin, object, try column(name, transaction))
                try transaction.setEntry("a", .link(target, targets[0]), in: place)
                try transaction.setEntry("b", .link(target, targets[1]), in: place)
            }
        }
    }
}
