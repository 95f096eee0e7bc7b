// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

/// Quick proofs leave out what they prove to be sound, and nothing else: a report is always that of the exact checks alone.
@Suite("Verify proofs")
struct VerifyProofTests {
    /// What differs between the two reports on a file; nil where nothing does, and for a file that cannot be opened.
    private static func difference(_ path: String, key: EncryptionKey? = nil) throws -> String? {
        let snapshot: Snapshot
        do {
            snapshot = try Snapshot(file: try RealmFile(path: path, key: key))
        } catch { return nil }
        let (report, exact) = (snapshot.verify(), snapshot.verify(isExact: true))
        guard
            report.errors != exact.errors || report.warnings != exact.warnings || report.statistics != exact.statistics
        else { return nil }
        return "\(report) instead of \(exact)"
    }

    private static func difference(_ bytes: [UInt8]) throws -> String? {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("proof-\(UUID().uuidString).realm").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try difference(path)
    }

    private static func fixtures(upTo byteCount: Int) -> [String] {
        Fixtures.names.filter { name in
            guard let path = try? Fixtures.path(name) else { return false }
            return ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? .max) <= byteCount
        }
    }

    @Test(arguments: fixtures(upTo: TestRun.isLong ? 1 << 30 : 1 << 21))
    func `A fixture has the same report with and without them`(_ name: String) throws {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        #expect(try VerifyProofTests.difference(try Fixtures.path(name), key: key) == nil)
    }

    // MARK: - Damaged files

    /// Parts of a file that are damaged together; nil is the whole file.
    private static let parts: [Set<StructuralDamage.Part>?] = [
        [.cluster], [.index], nil, [.cluster, .index, .tombstones], [.index], [.cluster],
    ]

    /// Compares the reports on damaged copies of a file.
    private static func expectSameReports(_ original: [UInt8], _ name: String, seeds: Range<UInt64>) throws {
        let structural = parts.map { StructuralDamage(original, parts: $0) }
        for seed in seeds {
            let bytes: [UInt8]
            let kind = Int(seed) % (parts.count + 1)
            if kind < parts.count {
                bytes = structural[kind].apply(seed: seed).bytes
            } else {
                var generator = SeededGenerator(seed: seed)
                let all = Damage.allCases
                bytes = all[Int(seed) / (parts.count + 1) % all.count].apply(to: original, using: &generator)
            }
            if let difference = try difference(bytes) { Issue.record("\(name), seed \(seed): \(difference)") }
        }
    }

    @Test(arguments: fixtures(upTo: 140_000).filter { !Fixtures.isEncrypted($0) })
    func `A damaged fixture has the same report with and without them`(_ name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        try VerifyProofTests.expectSameReports(original, name, seeds: 0..<(TestRun.isLong ? 3_000 : 14))
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 20))
    func `A damaged file with properties of every kind has the same report with and without them`(seed: UInt64) throws {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path)
        var workload = StorageWorkload(seed: seed)
        try workload.makeSchema(realm.transaction)
        for _ in 0..<200 { try workload.step(realm.transaction) }
        try realm.commit()
        try realm.close()
        #expect(try VerifyProofTests.difference(file.path) == nil)
        try VerifyProofTests.expectSameReports(
            try file.bytes, "workload \(seed)", seeds: seed * 1_000..<seed * 1_000 + (TestRun.isLong ? 900 : 21))
    }

    // MARK: - Indexes

    /// A class whose indexes have lists of every kind: short and long, of equal and of different values, of numbers of several types.
    private static func makeIndexed() throws -> [UInt8] {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path)
        let transaction = realm.transaction
        let key = try transaction.createTable("class_A")
        let id = try transaction.addColumn(ColumnDefinition("id", .string), to: key)
        try transaction.setPrimaryKey(id, of: key)
        for definition in [
            ColumnDefinition("few", .int, index: .general), ColumnDefinition("many", .int, isNullable: true, index: .general),
            ColumnDefinition("text", .string, isNullable: true, index: .general),
            ColumnDefinition("date", .timestamp, index: .general), ColumnDefinition("any", .mixed, index: .general),
            ColumnDefinition("words", .string, index: .fullText),
        ] { try transaction.addColumn(definition, to: key) }
        let long = String(repeating: "same ", count: 41)
        var objects: [ObjectKey] = []
        for number in 0..<400 {
            let texts = [
                "key \(number)", number % 4 == 0 ? "t\(number)" : long + "\(number % 5)",
                "word\(number % 7) of the \(number % 90)", "m\(number % 20)",
            ].map { ByteStorage(Array($0.utf8)) }
            let mixed: [Value] = [
                .int(Int64(number % 3)), .bool(true), .double(1), .string(texts[3].view), .null, .double(Double(number) / 8),
            ]
            let many = number % 11 == 0 ? Value.null : .int(Int64(number / 2) << Int64(number % 3 * 20))
            objects.append(
                try transaction.createObject(
                    in: key,
                    values: [
                        .string(texts[0].view), .int(Int64(number % 6)), many, .string(texts[1].view),
                        .timestamp(Timestamp(seconds: Int64(number % 300), nanoseconds: 0)), mixed[number % mixed.count],
                        .string(texts[2].view),
                    ]))
        }
        for object in objects where object.rawValue % 13 == 5 { try transaction.deleteObject(object, in: key) }
        try realm.commit()
        try realm.close()
        return try file.bytes
    }

    /// Nodes of the indexes of a file.
    private struct IndexNodes {
        /// Leaves of indexes, which have objects, lists and further levels.
        var leaves: [Int] = []
        /// Lists of objects.
        var lists: [Int] = []

        mutating func add(_ node: Int, _ file: FileEditor) {
            let flags = file.bytes[node + 4]
            guard flags & 0x40 != 0 else { return lists.append(node) }
            if flags & 0x80 == 0 { leaves.append(node) }
            for slot in 1..<file.count(node) where file.element(node, slot) & 1 == 0 { add(file.child(node, slot), file) }
        }
    }

    private enum Mischief: CaseIterable { case swap, copy, change, drop, key, listSwap, listMove, listChange, listDrop, value }

    /// Changes an index, or values, and leaves the nodes as they are.
    private static func apply(
        _ mischief: Mischief, _ file: inout FileEditor, _ nodes: IndexNodes, _ values: [Int], _ generator: inout SeededGenerator
    ) {
        func any(_ count: Int) -> Int { Int.random(in: 0..<max(count, 1), using: &generator) }
        let (leaf, other) = (nodes.leaves[any(nodes.leaves.count)], nodes.leaves[any(nodes.leaves.count)])
        let (list, longer) = (nodes.lists[any(nodes.lists.count)], nodes.lists[any(nodes.lists.count)])
        let (slot, second) = (1 + any(file.count(leaf) - 1), 1 + any(file.count(other) - 1))
        let (row, place) = (any(file.count(list)), any(file.count(longer)))
        let (left, right) = (file.element(leaf, slot), file.element(other, second))
        let (member, stranger) = (file.element(list, row), file.element(longer, place))
        switch mischief {
        case .swap:
            file.setElement(leaf, slot, right)
            file.setElement(other, second, left)
        case .copy: file.setElement(leaf, slot, right)
        case .change: file.setElement(leaf, slot, left &+ UInt64(2 * any(9)) &- 8)
        case .drop:
            file.setCount(file.child(leaf, 0), file.count(leaf) - 2)
            file.setCount(leaf, file.count(leaf) - 1)
        case .key:
            let keys = file.child(leaf, 0)
            file.setElement(keys, slot - 1, file.element(keys, slot - 1) &+ 1 &<< UInt64(8 * any(4)))
        case .listSwap:
            let next = file.element(list, (row + 1) % file.count(list))
            file.setElement(list, (row + 1) % file.count(list), member)
            file.setElement(list, row, next)
        case .listMove: file.setElement(list, row, stranger)
        case .listChange: file.setElement(list, row, member &+ UInt64(any(5)) &- 2)
        case .listDrop: file.setCount(list, file.count(list) - 1)
        case .value:
            let node = values[any(values.count)]
            guard file.width(node) > 0, file.count(node) > 0 else { return }
            let index = any(file.count(node))
            file.setElement(node, index, file.element(node, index) ^ 1 &<< UInt64(any(file.width(node))))
        }
    }

    @Test func `Changed entries of indexes have the same reports with and without them`() throws {
        let original = try VerifyProofTests.makeIndexed()
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("indexed-\(UUID().uuidString).realm").path
        try Data(original).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        let table = try #require(snapshot.classTable(named: "A"))
        // All indexes are proved, or what follows would show nothing.
        var objects = ObjectCheck(snapshot, isExact: false)
        var report = VerifyReport()
        objects.readKeys(&report)
        let proofs = IndexProver(snapshot, keys: objects.live, ProofHash()).finish()
        for column in table.columns { #expect(proofs.result(table, column) != nil, "\(column.name)") }
        #expect(proofs.provesUniqueness(of: table))
        // A second thread makes the same ones.
        let prover = IndexProver(snapshot, keys: objects.live, ProofHash())
        prover.startThread(ifObjects: 0)
        let others = prover.finish()
        for column in table.columns {
            let (proof, other) = (proofs.result(table, column), others.result(table, column))
            #expect(proof?.entryCount == other?.entryCount && proof?.isUnique == other?.isUnique)
        }

        var nodes = IndexNodes()
        for column in table.columns { nodes.add(Int(column.searchIndex.rawValue), FileEditor(original)) }
        let many = FileEditor(original).values("A", "many", in: snapshot)
        let few = FileEditor(original).values("A", "few", in: snapshot)
        for seed in 0..<UInt64(TestRun.isLong ? 20_000 : 100) {
            var generator = SeededGenerator(seed: seed)
            var file = FileEditor(original)
            let mischief = Mischief.allCases[Int(seed) % Mischief.allCases.count]
            VerifyProofTests.apply(mischief, &file, nodes, [many, few], &generator)
            if let difference = try VerifyProofTests.difference(file.bytes) {
                Issue.record("\(mischief), seed \(seed): \(difference)")
            }
        }
    }
}
