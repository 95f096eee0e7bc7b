// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Every byte of a file is counted once, by what it is there for.
@Suite("Sizes of a file")
struct SizeReportTests {
    private static func report(
        _ path: String, key: EncryptionKey? = nil, _ options: SizeReport.Options = SizeReport.Options()
    ) throws -> SizeReport {
        try SizeReport(measuring: try RealmFile(path: path, key: key, accepting: FileHeader.knownFormats), options)
    }

    private static func report(_ bytes: [UInt8], _ options: SizeReport.Options = SizeReport.Options()) throws -> SizeReport {
        let file = try TemporaryRealm()
        try file.write(bytes)
        return try report(file.path, options)
    }

    /// Expects that the parts add up, and those of tables too.
    private static func expectSums(_ report: SizeReport, _ byteCount: Int, _ what: String = "") {
        #expect(report.fileBytes == UInt64(byteCount) && report.parts.total == UInt64(byteCount), "\(what): \(report.parts)")
        #expect(report.classes.reduce(0) { $0 + $1.bytes } == report.parts.classes, "\(what)")
        #expect(report.otherTables.reduce(0) { $0 + $1.bytes } == report.parts.otherTables, "\(what)")
        #expect(report.largest.count <= LargestValues.limit && report.damage.count <= 200, "\(what)")
        for (one, next) in zip(report.largest, report.largest.dropFirst()) { #expect(one.bytes >= next.bytes, "\(what)") }
    }

    private static func expectSound(_ report: SizeReport, _ byteCount: Int, _ what: String) {
        expectSums(report, byteCount, what)
        #expect(report.isComplete && report.damage.isEmpty && report.parts.unaccounted == 0, "\(what): \(report.damage)")
        #expect(report.classes.allSatisfy { $0.objectCount != nil && $0.isComplete && $0.other == 0 }, "\(what)")
    }

    // MARK: - Sound files

    @Test(arguments: Fixtures.names + ["v10-", "v11-"].flatMap { Fixtures.legacyNames($0) })
    func `the parts of a fixture add up to its size, and nothing is left over`(_ name: String) throws {
        let path = try Fixtures.path(name)
        let key = try (name.hasPrefix("legacy/") ? Fixtures.legacyKey(name) : Fixtures.isEncrypted(name) ? Fixtures.key : nil)
            .map { try EncryptionKey(bytes: $0) }
        let byteCount = try Data(contentsOf: URL(fileURLWithPath: path)).count
        let file = try RealmFile(path: path, key: key)
        let report = try SizeReport(measuring: file)
        Self.expectSound(report, byteCount, name)
        var owning = SizeReport.Options()
        owning.ownsFile = true
        #expect(try SizeReport(measuring: file, owning).parts == report.parts)
        // Some files are of a build with leaves of four objects, which this reader does not open.
        guard let snapshot = try? Snapshot(file: file) else { return }
        #expect(report.classes.map(\.name) == snapshot.classes.map(\.className))
        #expect(report.classes.map(\.objectCount) == snapshot.classes.map { UInt64($0.count) })
        #expect(report.classes.map { $0.properties.map(\.name) } == snapshot.classes.map { $0.columns.map(\.name) })
        let verified = snapshot.verify().statistics
        if !snapshot.top.ref.isNone { #expect(report.nodeCount == verified.nodes) }
    }

    @Test(arguments: LegacyFixtures.names)
    func `the parts of an old fixture add up to its size, and nothing is left over`(_ name: String) throws {
        let file = try TemporaryRealm()
        let bytes = try LegacyFixtures.bytes(name)
        try file.write(bytes)
        let report = try Self.report(file.path, key: try LegacyFixtures.key(name))
        Self.expectSound(report, bytes.count, name)
        #expect(report.compactedBytes == nil && report.fileFormat < 10)
    }

    /// A class with values of all kinds of places, and one object with much.
    private static func fill(_ transaction: WriteTransaction) throws {
        let target = try transaction.createTable("class_Target")
        try transaction.addColumn(ColumnDefinition("n", .int), to: target)
        let key = try transaction.createTable("class_Photo")
        try transaction.setPrimaryKey(try transaction.addColumn(ColumnDefinition("id", .string), to: key), of: key)
        try transaction.addColumn(ColumnDefinition("bytes", .binary, isNullable: true), to: key)
        try transaction.addColumn(ColumnDefinition("tags", .string, collection: .list), to: key)
        try transaction.addColumn(ColumnDefinition("shown", .link, target: target), to: key)
        try transaction.addColumn(ColumnDefinition("any", .mixed), to: key)
        let table = try transaction.view().classTable(named: "Photo")
        let (bytes, tags) = (try #require(table?.column(named: "bytes")), try #require(table?.column(named: "tags")))
        let (shown, any) = (try #require(table?.column(named: "shown")), try #require(table?.column(named: "any")))
        let linked = try transaction.createObject(in: target)
        let (big, text) = (ByteStorage([UInt8](repeating: 7, count: 300_000)), ByteStorage(Array("a tag of a photo".utf8)))
        for number in 0..<600 {
            let id = ByteStorage(Array("photo \(number)".utf8))
            let object = try transaction.createObject(in: key, primaryKey: .string(id.view))
            try transaction.set(.link(target, linked), shown, of: object, in: key)
            if number == 333 {
                try transaction.set(.binary(big.view), bytes, of: object, in: key)
                for index in 0..<1000 {
                    try transaction.insert(.string(text.view), at: index, in: CollectionPlace(key, object, tags))
                }
            }
            if number == 17 { try transaction.set(.string(big.view.slice(0, 100_000)), any, of: object, in: key) }
        }
    }

    @Test func `a class with a big value shows it, with the key of its object`() throws {
        let realm = try ScratchRealm()
        try Self.fill(realm.transaction)
        let snapshot = try realm.commit()
        let report = try SizeReport(measuring: snapshot.file)
        Self.expectSound(report, snapshot.file.fileByteCount, "in memory")
        let photo = try #require(report.classes.first { $0.name == "Photo" })
        #expect(photo.objectCount == 600 && photo.bytes > 400_000)
        let properties = Dictionary(uniqueKeysWithValues: photo.properties.map { ($0.name, $0) })
        #expect(try #require(properties["bytes"]).values > 300_000)
        #expect(try #require(properties["tags"]).collections > 16_000)
        #expect(try #require(properties["any"]).values > 100_000)
        #expect(try #require(properties["id"]).index > 0 && properties["bytes"]?.index == 0)
        // The target has a list of 600 origins, which counts as part of the link.
        #expect(try #require(properties["shown"]).backlinks > 1000)
        #expect(report.classes.first { $0.name == "Target" }?.properties.map(\.backlinks) == [0])
        let largest = report.largest.prefix(3)
        #expect(largest.map(\.property) == ["bytes", "any", "tags"] && largest.allSatisfy { $0.table == "Photo" })
        let keys = largest.map { value -> String? in
            guard let key = value.primaryKey, case .string(let text) = key.value else { return nil }
            return text.string
        }
        #expect(keys == ["photo 333", "photo 17", "photo 333"])
    }

    @Test(arguments: [nil, Fixtures.key])
    func `the size after compaction is known before, to a page`(_ bytes: [UInt8]?) throws {
        let file = try TemporaryRealm()
        let key = try bytes.map { try EncryptionKey(bytes: $0) }
        let realm = try ScratchRealm(path: file.path, key: key)
        try Self.fill(realm.transaction)
        try realm.commit()
        let table = try #require(try realm.transaction.view().classTable(named: "Photo"))
        for number in 0..<20 {
            try realm.transaction.deleteObject(try #require(try table.objects.row(at: number)).key, in: table.key)
        }
        try realm.commit()
        try realm.close()
        let report = try Self.report(file.path, key: key)
        Self.expectSound(report, try file.bytes.count, "before")
        let expected = try #require(report.compactedBytes)
        let sizes = try FileStore.rewrite(path: file.path, key: key, newKey: key)
        #expect(abs(sizes.after - Int(expected)) <= 4096, "\(sizes) instead of \(expected)")
        Self.expectSound(try Self.report(file.path, key: key), sizes.after, "after")
    }

    @Test func `free space that a former version keeps is pinned`() throws {
        let realm = try ScratchRealm()
        try Self.fill(realm.transaction)
        let held = try realm.commit()
        let table = try #require(held.classTable(named: "Photo"))
        try realm.transaction.deleteAllObjects(in: table.key)
        let snapshot = try realm.commit()
        var options = SizeReport.Options()
        #expect(try SizeReport(measuring: snapshot.file, options).free?.pinned == nil)
        options.oldestVersion = held.version
        let free = try #require(try SizeReport(measuring: snapshot.file, options).free)
        #expect(try #require(free.pinned) > 400_000 && (free.pinned ?? 0) <= free.bytes && free.blockCount > 0)
        #expect(free.largestBlock > 300_000)
        options.oldestVersion = snapshot.version
        #expect(try SizeReport(measuring: snapshot.file, options).free?.pinned == 0)
    }

    @Test func `a class that is not shown is not named`() throws {
        let realm = try ScratchRealm()
        try Self.fill(realm.transaction)
        let snapshot = try realm.commit()
        var options = SizeReport.Options()
        options.shown = [try #require(snapshot.classTable(named: "Target")).key]
        let report = try SizeReport(measuring: snapshot.file, options)
        Self.expectSound(report, snapshot.file.fileByteCount, "a part")
        #expect(report.classes.map(\.name) == ["Target"] && report.largest.isEmpty && report.parts.hiddenClasses > 400_000)
    }

    // MARK: - Damaged files

    @Test func `what cannot be read is named with its place, and the rest is counted`() throws {
        let path = try Fixtures.path("types-single")
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        var editor = FileEditor(original)
        let leaf = editor.values("AllRequired", "intValue", in: snapshot)
        editor.bytes[leaf + 4] |= 0x18
        let (sound, damaged) = (try Self.report(original), try Self.report(editor.bytes))
        Self.expectSums(damaged, original.count)
        #expect(damaged.damageCount == 1 && !damaged.isComplete && damaged.compactedBytes == nil)
        let damage = try #require(damaged.damage.first)
        #expect(damage.offset == UInt64(leaf) && damage.table == "AllRequired" && damage.property == "intValue")
        #expect(damaged.classes.filter { !$0.isComplete }.map(\.name) == ["AllRequired"])
        #expect(damaged.parts.unaccounted > 0)
        #expect(damaged.parts.unaccounted + damaged.parts.classes == sound.parts.classes)
    }

    @Test func `a table without a sound schema is counted as a whole`() throws {
        let path = try Fixtures.path("types-single")
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        var editor = FileEditor(original)
        editor.setCount(editor.child(editor.child(editor.table("AllRequired", in: snapshot), 0), 5), 3)
        let report = try Self.report(editor.bytes)
        Self.expectSums(report, original.count)
        let table = try #require(report.classes.first { $0.name == "AllRequired" })
        #expect(table.properties.isEmpty && !table.isComplete && table.other > 5000 && table.objectCount == 40)
    }

    @Test func `a node that is used twice is counted once`() throws {
        let path = try Fixtures.path("lists")
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        let table = editor.table("Parent", in: snapshot)
        editor.setElement(table, 2, UInt64(table))
        let report = try Self.report(editor.bytes)
        Self.expectSums(report, editor.bytes.count)
        #expect(report.damage.contains { $0.reason.contains("twice") } && report.classes.contains { $0.objectCount == nil })
    }

    /// A file whose parts lead to each other in ways that must not take long.
    private static func hostile(_ make: (inout FileEditor) -> Void) throws -> (report: SizeReport, byteCount: Int) {
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("types-single")))))
        make(&editor)
        return (try report(editor.bytes), editor.bytes.count)
    }

    @Test func `overlapping nodes and endless chains are bounded`() throws {
        var reports: [(report: SizeReport, byteCount: Int)] = []
        let time = try ContinuousClock().measure {
            // Thousands of nodes of a megabyte, each eight bytes behind the other.
            reports.append(
                try Self.hostile { file in
                    let start = file.bytes.count
                    for _ in 0..<200_000 { file.bytes += [0x41, 0x41, 0x41, 0x41, 0x46, 0x03, 0, 0] }
                    let refs = (0..<60_000).map { Int64(start + 8 * $0) }
                    file.relink([], 8, to: file.append(flags: 0x40, widthCode: 7, refs))
                })
            // A chain of nodes that is deeper than any stack.
            reports.append(
                try Self.hostile { file in
                    let start = file.bytes.count
                    for index in 0..<100_000 {
                        file.bytes += [0x41, 0x41, 0x41, 0x41, 0x47, 0, 0, 1]
                        for step in 0..<8 {
                            file.bytes.append(UInt8(truncatingIfNeeded: (start + 16 * (index + 1)) >> (8 * step)))
                        }
                    }
                    file.relink([], 8, to: start)
                })
            // Nodes without payload that state many elements.
            reports.append(
                try Self.hostile { file in
                    let start = file.bytes.count
                    for _ in 0..<60_000 { file.bytes += [0x41, 0x41, 0x41, 0x41, 0x40, 0, 0xff, 0xff] }
                    let refs = (0..<60_000).map { Int64(start + 8 * $0) }
                    file.relink([], 8, to: file.append(flags: 0x40, widthCode: 7, refs))
                })
        }
        for (report, byteCount) in reports { Self.expectSums(report, byteCount) }
        #expect(reports.prefix(2).allSatisfy { !$0.report.isComplete })
        #expect(time < .seconds(20))
    }

    /// The fixtures that are damaged: small ones of all kinds.
    private static let damagedNames = [
        "types-single", "mixed", "links", "lists", "indexes", "unresolved", "streaming", "enumerated",
    ]

    @Test(arguments: damagedNames)
    func `damaged files are measured as far as they can be read`(_ name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        try Self.expectBounded(original, name, seeds: 0..<(TestRun.isLong ? 400 : 30))
    }

    @Test(arguments: ["v2-types", "v9-example", "v9-empty-classes", "v5-types"].filter(LegacyFixtures.names.contains))
    func `damaged old files are measured as far as they can be read`(_ name: String) throws {
        try Self.expectBounded(try LegacyFixtures.bytes(name), name, seeds: 0..<(TestRun.isLong ? 400 : 25))
    }

    private static func expectBounded(_ original: [UInt8], _ name: String, seeds: Range<UInt64>) throws {
        let structural = StructuralDamage(original)
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            let kinds = Damage.allCases
            let bytes =
                seed % 3 == 0
                ? kinds[Int(seed / 3) % kinds.count].apply(to: original, using: &generator) : structural.apply(seed: seed).bytes
            let time = try ContinuousClock().measure {
                do {
                    expectSums(try report(bytes), bytes.count, "seed \(seed) of \(name)")
                } catch is StorageError {
                    // Its header cannot be read.
                }
            }
            #expect(time < .seconds(10), "seed \(seed) of \(name)")
        }
    }

    // MARK: - Ends

    @Test func `a walk ends with the reason for which it was given up`() throws {
        let file = try RealmFile(path: try Fixtures.path("store"))
        let cancelled = WorkControl()
        cancelled.cancel()
        for (control, reason) in [
            (cancelled, WorkControl.stopped), (WorkControl(deadline: Instant.now()), .stopped(.expired)),
            (WorkControl(isWanted: { false }), .stopped(.cancelled)),
        ] {
            Threads.sleep(seconds: 0.001)
            #expect(throws: reason) { try SizeReport(measuring: file, SizeReport.Options(), control) }
        }
    }
}
