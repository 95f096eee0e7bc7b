// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@Suite("Snapshots of files by the reference engine")
struct SnapshotTests {
    @Test(arguments: Fixtures.names.filter { !Fixtures.isEncrypted($0) })
    func `every plain fixture opens and every value of every object can be read`(_ name: String) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
        for table in snapshot.tables {
            var seen = 0
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                seen += leaf.count
                for column in table.columns { try readAll(column, leaf, snapshot) }
                for column in table.backlinks {
                    for row in 0..<leaf.count {
                        let links = try leaf.backlinks(column, row: row)
                        #expect(try links.keys().count == links.count)
                    }
                }
            }
            #expect(seen == table.count, "\(table.name)")
        }
    }

    @Test(arguments: Fixtures.namesWithDump)
    func `every fixture holds exactly what its writer put in`(_ name: String) throws {
        let dump = try #require(try Fixtures.dump(name))
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        var contents = ExpectedContents(snapshot)
        try contents.compare(with: dump)
        #expect(contents.differences.isEmpty, "\(contents.differences)")
    }

    @Test(arguments: Fixtures.names)
    func `every fixture passes verification, but for what its writer left behind`(_ name: String) throws {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let report = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key)).verify()
        #expect(report.errors.isEmpty, "\(report.errors)")
        #expect(report.warnings.isEmpty == (name != "odd-stale-backlinks"), "\(report.warnings)")
        #expect(report.statistics.unaccountedBytes == 0)
    }

    private func readAll(_ column: Column, _ leaf: ClusterLeaf, _ snapshot: Snapshot) throws {
        guard let collection = column.collection else {
            let values = try leaf.attach(column)
            for row in 0..<leaf.count { _ = try values.value(row) }
            return
        }
        for row in 0..<leaf.count {
            let root = try leaf.collectionRoot(column, row: row)
            if collection == .dictionary {
                let dictionary = try DictionaryView(root: root, space: snapshot.space)
                var entries = dictionary.entries()
                var count = 0
                while let entry = try entries.next() {
                    #expect(try dictionary.key(at: count) == entry.key)
                    count += 1
                }
                #expect(count == dictionary.count)
            } else {
                let list = try ListView(root: root, space: snapshot.space, shape: column.elementShape)
                var elements = list.elements()
                var count = 0
                while (try elements.next()) != nil { count += 1 }
                #expect(count == list.count)
            }
        }
    }
}
