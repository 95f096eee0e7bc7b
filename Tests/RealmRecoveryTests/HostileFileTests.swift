// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmRecovery

/// Damaged and hostile files end with an error or with what is left, within the bounds.
@Suite("Hostile files")
struct HostileFileTests {
    /// Searches bytes, and returns the recovery; nil when the file is refused.
    @discardableResult
    private static func recovery(of bytes: [UInt8], _ realm: TemporaryRealm) throws -> Recovery? {
        try realm.write(bytes)
        var options = Recovery.Options()
        options.seconds = 60
        do {
            let recovery = try Recovery(try EvidenceFile(path: realm.path, key: nil), options)
            RecoveryReport(recovery, recovery.lines, tool: "test", options: []).writeLines(hasEvidence: true) { _ in }
            return recovery
        } catch {
            return nil
        }
    }

    private static var plainNames: [String] { RecoveryFixtures.names.filter { !$0.contains("encrypted") } }

    @Test(arguments: plainNames)
    func `Damaged copies of a file end within the bounds`(_ name: String) throws {
        let original = try RecoveryFixtures.realm(name)
        let realm = try TemporaryRealm()
        var generator = SeededGenerator(seed: 7)
        for round in 0..<(TestRun.isLong ? 400 : 4) {
            let kind = Damage.allCases[round % Damage.allCases.count]
            let bytes = kind.apply(to: original, using: &generator)
            guard let recovery = try HostileFileTests.recovery(of: bytes, realm) else { continue }
            #expect(recovery.incomplete.allSatisfy { !$0.contains("seconds") }, "\(kind), round \(round)")
        }
    }

    @Test(arguments: plainNames)
    func `Damaged bytes in unused space make nothing up`(_ name: String) throws {
        let original = try RecoveryFixtures.realm(name)
        let truth = try RecoveryFixtures.truth(name)
        let realm = try TemporaryRealm()
        var generator = SeededGenerator(seed: 11)
        for round in 0..<(TestRun.isLong ? 200 : 3) {
            // What a header says is changed, so that nodes are gone or have another form.
            var bytes = original
            for _ in 0..<[1, 5, 50][round % 3] {
                let place = Int.random(in: 3..<original.count / 8, using: &generator) * 8
                for offset in 0..<8 { bytes[place + offset] = 0 }
            }
            guard let recovery = try HostileFileTests.recovery(of: bytes, realm), recovery.presentDamage == nil else { continue }
            let objects = Set(truth.compactMap { $0["class"].map { ByteText("\($0)") } })
            #expect(recovery.lines.allSatisfy { objects.contains(ByteText(ParsedJSON.string($0.className).description)) })
        }
    }

    @Test func `A file that is full of headers ends soon`() throws {
        let realm = try TemporaryRealm()
        let original = try RecoveryFixtures.realm("note-deleted")
        for flags: UInt8 in [0x00, 0x40, 0x46, 0x47, 0xc7, 0x0f, 0x60] {
            var bytes = original
            for index in 0..<(1 << 14) {
                let count = UInt8(truncatingIfNeeded: index)
                bytes += [0x41, 0x41, 0x41, 0x41, flags, count & 1, count, 0xff]
            }
            #expect(try HostileFileTests.recovery(of: bytes, realm) != nil)
        }
    }

    @Test func `Nodes that refer to each other end soon`() throws {
        let realm = try TemporaryRealm()
        var bytes = try RecoveryFixtures.realm("note-deleted")
        // Inner nodes with refs to the next one, many times each.
        let start = bytes.count
        for level in 0..<40 {
            let next = UInt64(start + (level + 1) % 40 * (8 + 8 * 64))
            bytes += [0x41, 0x41, 0x41, 0x41, 0xc7, 0, 0, 64]
            for slot in 0..<64 {
                let word: UInt64 = slot == 0 ? 0 : slot == 1 ? 3 : slot == 63 ? 129 : next
                bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
            }
        }
        let began = Instant.now()
        #expect(try HostileFileTests.recovery(of: bytes, realm) != nil)
        #expect(Instant.now().seconds(since: began) < 60)
    }

    @Test func `A file that is cut short is searched, and said to be damaged`() throws {
        let realm = try TemporaryRealm()
        let bytes = try RecoveryFixtures.realm("churn")
        let recovery = try HostileFileTests.recovery(of: Array(bytes.prefix(bytes.count / 2)), realm)
        #expect(recovery?.presentDamage != nil)
        #expect(recovery?.isComplete == false)
    }

    @Test func `What is no Realm file is refused`() throws {
        let realm = try TemporaryRealm()
        for bytes in [
            [], [UInt8](repeating: 0, count: 23), [UInt8](repeating: 0, count: 8192),
            Array("SQLite format 3\0 and more of it".utf8),
        ] {
            try realm.write(bytes)
            #expect(throws: StorageError.self) { try Recovery(try EvidenceFile(path: realm.path, key: nil)) }
        }
    }

    @Test func `A wrong key is refused, and pages that do not decrypt are said`() throws {
        let realm = try TemporaryRealm()
        let bytes = try RecoveryFixtures.realm("encrypted")
        try realm.write(bytes)
        #expect(throws: StorageError.self) {
            try EvidenceFile(path: realm.path, key: try EncryptionKey(bytes: [UInt8](repeating: 9, count: 64)))
        }
        var damaged = bytes
        damaged[3 * 4096 + 100] ^= 1
        try realm.write(damaged)
        let file = try EvidenceFile(path: realm.path, key: try RecoveryFixtures.key("encrypted"))
        #expect(file.unreadablePages == [2])
        _ = try Recovery(file)
    }
}
