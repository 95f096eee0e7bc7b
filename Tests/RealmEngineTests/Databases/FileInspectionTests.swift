// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What `realm-rest info` and the documents of realms say of a file.
@Suite("What a file is")
struct FileInspectionTests {
    private static let names =
        Fixtures.namesWithDump.filter { !$0.hasPrefix("synthetic") } + (2...11).flatMap { Fixtures.legacyNames("v\($0)-") }

    private static func key(_ name: String) throws -> EncryptionKey? {
        let bytes = Fixtures.legacyKey(name)
        return try bytes.map { try EncryptionKey(bytes: $0) }
    }

    @Test(arguments: names)
    func `classes and counts are those of the dump, and nothing beside the file is made`(_ name: String) throws {
        let dump = try #require(try Fixtures.dump(name))
        let path = try Fixtures.path(name)
        let before = try FileManager.default.contentsOfDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        let file = try FileInspection(path: path, key: try FileInspectionTests.key(name))
        let contents = try #require(file.contents, "\(file.failure.debugDescription)")
        let classes = contents.tables.filter { $0.className != nil }
        let expected = (dump["classes"]?.elements ?? []).filter { $0["name"]?.text != nil }
        // The dumps list classes by name, and convert some names.
        #expect(classes.map(\.count).sorted() == expected.map { $0["count"]?.int ?? -1 }.sorted(), "\(name)")
        #expect(file.glance.format == dump["fileFormat"]?.int)
        #expect(contents.schemaVersion.map { Int64(clamping: $0) } == dump["schemaVersion"]?.integer)
        #expect(file.isEncrypted == name.contains("encrypted"))
        #expect(contents.usedBytes + contents.freeBytes <= file.glance.byteCount && contents.usedBytes > 0)
        let after = try FileManager.default.contentsOfDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        #expect(Set(after.filter { $0.hasSuffix(".lock") }) == Set(before.filter { $0.hasSuffix(".lock") }))
    }

    @Test(arguments: names.filter { $0.contains("encrypted") })
    func `an encrypted file is told from others without its key, but not what it holds`(_ name: String) throws {
        let other = try EncryptionKey(bytes: [UInt8](repeating: 7, count: 64))
        for key in [nil, other] {
            let file = try FileInspection(path: try Fixtures.path(name), key: key)
            #expect(file.isRealm == true && file.isEncrypted == true && file.glance.format == nil && file.contents == nil)
            #expect(file.failure?.isAboutKey == true && file.outlook.mode == nil)
        }
    }

    @Test func `a key for a file that is not encrypted is told to be too much`() throws {
        let file = try FileInspection(path: try Fixtures.path("primary-keys"), key: try EncryptionKey(bytes: Fixtures.key))
        #expect(file.isEncrypted == false && file.glance.format == 24 && file.contents == nil)
        #expect("\(try #require(file.failure))".contains("not encrypted"))
    }

    @Test func `what may be encrypted or no Realm file is not said to be either`() throws {
        var random = SeededGenerator(seed: 11)
        let bytes = (0..<16384).map { _ in UInt8.random(in: 0...255, using: &random) }
        let file = try inspect(bytes)
        #expect(file.isRealm == nil && file.isEncrypted == nil && file.contents == nil)
        #expect(file.failure?.isAboutKey == true)
    }

    @Test func `files that are none of Realm say what they are`() throws {
        for (bytes, kind) in [
            (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"), (Array("SQLite format 3\0".utf8), "an SQLite database"),
            ([], "too small"),
            (Array(#"[{"a":1},{"a":2},{"a":3}]"#.utf8), "a text"),
        ] {
            let file = try inspect(bytes + (bytes.count < 20 && !bytes.isEmpty ? [UInt8](repeating: 1, count: 9000) : []))
            #expect(file.isRealm == false || bytes.isEmpty)
            #expect("\(try #require(file.failure))".contains(kind), "\(file.failure.debugDescription)")
        }
    }

    @Test(arguments: [1, 12, 13, 25, 200])
    func `a format that is not read is named with what is known of it`(_ format: Int) throws {
        var bytes = try modern()
        bytes[20] = UInt8(format)
        bytes[21] = UInt8(format)
        let file = try inspect(bytes)
        #expect(file.glance.format == format && file.isRealm == true && file.isEncrypted == false && file.contents == nil)
        guard case .refused(.formatUnsupported(format, _))? = file.failure else {
            Issue.record("\(file.failure.debugDescription)")
            return
        }
    }

    @Test(arguments: [10, 11, 20, 21, 22, 23])
    func `what serving does depends on the format`(_ format: Int) throws {
        #expect(try inspect(try modern()).outlook == .written)
        var bytes = try modern()
        bytes[20] = UInt8(format)
        bytes[21] = UInt8(format)
        let outlook = try inspect(bytes).outlook
        #expect(
            outlook == .onlyRead(.refused(.formatNotWritable(found: format))) && outlook.advice?.contains("--upgrade") == true)
    }

    @Test(arguments: (2...9).compactMap { Fixtures.legacyNames("v\($0)-").first })
    func `old files are served as converted copies`(_ name: String) throws {
        let file = try FileInspection(path: try Fixtures.path(name), key: try FileInspectionTests.key(name))
        #expect(file.outlook == .converted(.copy) && file.outlook.mode == .copy)
    }

    @Test(arguments: [nil, .readWrite, .readOnly, .copy, .follow] as [Database.Mode?], [false, true])
    func `what serving does depends on how the realm is configured, and is what happens`(
        _ mode: Database.Mode?, _ upgrades: Bool
    ) throws {
        let name = try #require(RealmName("a"))
        var outdated = try modern()
        outdated.replaceSubrange(20..<22, with: [23, 23])
        for (format, bytes) in [(24, try modern()), (23, outdated), (9, try LegacyFixtures.bytes("v9-example"))] {
            let folder = NSTemporaryDirectory() + "outlook-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/a.realm"))
            var options = Database.OpenOptions(mode: mode)
            options.upgradesInPlace = upgrades
            let file = try FileInspection(path: folder + "/a.realm", options)
            #expect(file.contents != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.realm"])
            let database = try? Database.open(name: name, path: folder + "/a.realm", options)
            let place = "format \(format), \(mode?.rawValue ?? "no mode"), upgrade \(upgrades): \(file.outlook.text)"
            #expect(file.outlook.mode == database?.servedMode, "\(place)")
            database?.close()
            let changes = try Data(contentsOf: URL(fileURLWithPath: folder + "/a.realm")) != Data(bytes)
            #expect(!changes || file.outlook.mode == .readWrite, "\(place)")
            #expect((file.outlook == .upgraded) == (format < 24 && changes), "\(place)")
        }
    }

    @Test func `a damaged file keeps what its header says, and is no empty one`() throws {
        var bytes = try modern()
        let editor = FileEditor(bytes)
        bytes.replaceSubrange(editor.top..<editor.top + 8, with: [UInt8](repeating: 0xff, count: 8))
        let file = try inspect(bytes)
        #expect(file.glance.format == 24 && file.contents == nil)
        guard case .corrupt? = file.failure else {
            Issue.record("\(file.failure.debugDescription)")
            return
        }
        let short = try inspect(Array(try modern().prefix(96)))
        #expect(short.glance.format == 24 && short.contents == nil && short.failure != nil)
    }

    @Test func `changed bytes never end the program, seed 46`() throws {
        var random = SeededGenerator(seed: 46)
        let names =
            ["primary-keys", "lists"] + Fixtures.legacyNames("v9-").filter { $0.hasSuffix("links") || $0.hasSuffix("types") }
        for name in names {
            let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
            for _ in 0..<150 {
                var bytes = original
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = try inspect(bytes)
            }
        }
    }

    /// The bytes of a file of format 24 that may be written to.
    private func modern() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("primary-keys"))))
    }

    /// Looks at a file of some bytes, which is in a folder of its own.
    private func inspect(_ bytes: [UInt8]) throws -> FileInspection {
        let folder = NSTemporaryDirectory() + "inspection-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/a.realm"))
        let file = try FileInspection(path: folder + "/a.realm")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.realm"])
        return file
    }
}

/// The table of formats in the document and in the code.
@Suite struct FileFormatTests {
    @Test func `the document has the formats of the code, with the same programs and years`() throws {
        let file = Fixtures.packageRoot.appendingPathComponent("docs/files-that-open.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let rows = text.split(separator: "\n").map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }.filter { $0.count == 5 && Int($0[0]) != nil }
        let treatments = ["written": "read and written", "read": "read as it is", "converted": "converted", "refused": "refused"]
        let expected = FileFormat.known.reversed().map { format in
            ["\(format.number)", format.engine, format.years, format.sdks, treatments[format.treatment.rawValue] ?? ""]
        }
        #expect(rows == expected)
    }

    @Test func `every format that is read, converted or written is known`() {
        let known = FileFormat.known.filter { $0.treatment != .refused }.map(\.number)
        #expect(known == (FileHeader.convertedFormats + FileHeader.supportedFormats).sorted())
    }
}
