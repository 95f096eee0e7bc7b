// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Objects of files of the reference engine, written as they are.
@Suite struct FixtureRewriteTests {
    private static let large: Set<String> = ["bench-100000", "table-70000", "blob-16m", "encrypted-large"]

    private func eachObject(
        _ snapshot: Snapshot, _ body: (Table, Row) throws -> Void
    ) throws {
        for table in snapshot.classes where table.kind != .embedded {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for index in 0..<leaf.count { try body(table, Row(leaf: leaf, index: index)) }
            }
        }
    }

    private func shown(_ snapshot: Snapshot) throws -> [String] {
        let text = ObjectText(snapshot)
        var lines: [String] = []
        try eachObject(snapshot) { table, row in
            lines.append("\(table.name) \(row.key.rawValue) \(try text.text(of: row, in: table))")
        }
        return lines
    }

    @Test(arguments: Fixtures.names.filter { !large.contains($0) && !Fixtures.isEncrypted($0) })
    func `what is written as it was stays as it was`(_ name: String) throws {
        let realm = try EngineRealm(copyOf: try Fixtures.path(name))
        defer { realm.database.close() }
        let first = realm.database.current
        try #require(realm.database.isWritable)
        let before = try shown(first.snapshot)
        var writes: [(className: String, key: ObjectKey, hasPrimaryKey: Bool, body: InputObject)] = []
        try eachObject(first.snapshot) { table, row in
            let body = try ObjectInput(first.snapshot).body(of: row, in: table)
            writes.append((table.className ?? "", row.key, table.primaryKey != nil, body))
        }
        let all = writes
        try realm.write { session in
            for write in all where write.hasPrimaryKey { _ = try session.upsert(write.className, write.body, .modified) }
        }
        #expect(realm.database.current.token == first.token, "equal values were written")
        try realm.write { session in
            for write in all { _ = try session.put(write.className, .objectKey(write.key), write.body) }
        }
        #expect(try shown(realm.database.current.snapshot) == before)
        let report = realm.database.current.snapshot.verify()
        #expect(report.isClean, "\(report.errors.prefix(5))")
    }
}
