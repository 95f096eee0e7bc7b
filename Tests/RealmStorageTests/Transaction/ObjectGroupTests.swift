// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Objects that are created together are the same as those that are created one after the other.
@Suite("Objects created together")
struct ObjectGroupTests {
    @Test(arguments: 1...(TestRun.isLong ? 40 : 5) as ClosedRange<UInt64>)
    func `have the keys, values and leaves that they have when they are created one by one`(seed: UInt64) throws {
        let shift = seed % 3 == 0 ? 2 : 8
        let (together, apart) = (try ScratchRealm(clusterShift: shift), try ScratchRealm(clusterShift: shift))
        var workload = StorageWorkload(seed: seed)
        for realm in [together, apart] { try workload.makeSchema(realm.transaction) }
        for round in 0..<(TestRun.isLong ? 30 : 4) {
            for key in try together.transaction.tableKeys() {
                let table = try together.transaction.table(key)
                guard table.kind == .topLevel, table.name.hasPrefix(Table.classPrefix) else { continue }
                let count = Int.random(
                    in: 2...[3, 40, 300, 700].randomElement(using: &workload.random)!, using: &workload.random)
                let columns = try workload.group(of: count, in: table, together.transaction)
                let made = try together.transaction.createObjects(count, in: key, columns: columns)
                var single: [ObjectKey] = []
                for row in 0..<count {
                    let values = columns.map { $0[row] }
                    let position = table.columns.firstIndex { $0.leafIndex == table.primaryKey?.leafIndex }
                    single.append(
                        try apart.transaction.createObject(in: key, primaryKey: position.flatMap { values[$0] }, values: values))
                }
                #expect(made == single, "seed \(seed), round \(round)")
                // Some go, often the last ones, so that the next group begins in a leaf with gaps.
                for object in made where Int.random(in: 0..<5, using: &workload.random) == 0 {
                    for realm in [together, apart] { try realm.transaction.deleteObject(object, in: key) }
                }
            }
            let (left, right) = (try together.commit(), try apart.commit())
            for (one, other) in zip(left.tables, right.tables) { try expectEqual(one, other, "seed \(seed), round \(round)") }
        }
        try together.close()
        try apart.close()
    }

    /// Compares two tables leaf by leaf.
    private func expectEqual(_ left: Table, _ right: Table, _ place: String) throws {
        #expect(left.count == right.count, "\(place)")
        var (leaves, others) = (left.objects.leaves(), right.objects.leaves())
        while let leaf = try leaves.next() {
            let other = try #require(try others.next(), "\(place): a leaf is missing")
            try #require(leaf.count == other.count, "\(place)")
            for row in 0..<leaf.count {
                try #require(leaf.key(at: row) == other.key(at: row), "\(place)")
                for column in left.columns where column.collection == nil && column.type != .mixed {
                    let (one, two) = (try leaf.value(column, row: row), try other.value(column, row: row))
                    try #require(one.isIdentical(to: two), "\(place), \(left.name).\(column.name), row \(row): \(one), \(two)")
                }
            }
        }
        #expect(try others.next() == nil, "\(place)")
    }

    @Test func `a primary key that exists, or is there twice, is found`() throws {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let key = try transaction.createTable("class_A")
        try transaction.setPrimaryKey(try transaction.addColumn(ColumnDefinition("id", .int), to: key), of: key)
        _ = try transaction.createObjects(3, in: key, columns: [[.int(1), .int(2), .int(1 << 40 | 7)]])
        #expect(try !transaction.hasAnyPrimaryKey(of: [.int(3), .int(7), .int(0)], in: key))
        #expect(try transaction.hasAnyPrimaryKey(of: [.int(3), .int(2)], in: key))
        #expect(try transaction.hasAnyPrimaryKey(of: [.int(3), .int(1 << 40 | 7)], in: key))
        #expect(try transaction.hasAnyPrimaryKey(of: [.int(5), .int(4), .int(5)], in: key))
        // The lower halves of these are the same, by which an index files them.
        #expect(try !transaction.hasAnyPrimaryKey(of: [.int(5), .int(1 << 40 | 5), .int(1 << 41 | 5)], in: key))
        try realm.commit()
        try realm.close()
    }
}
