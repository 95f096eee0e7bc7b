// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmRecovery

/// Histories of which every version is known: what was never is never stated, and the version before the last is always found.
@Suite("Seeded histories")
struct SeededHistoryTests {
    @Test(arguments: TestRun.seeds(quick: 12, long: 400))
    func `Every line is true, and the version before the last is found with certainty A`(seed: UInt64) throws {
        let realm = try TemporaryRealm()
        let history = try RecordedHistory(seed: seed, path: realm.path)
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: nil), history.options)
        #expect(history.truth.faults(of: recovery) == [])
        #expect(history.truth.missing(in: recovery) == [])
        #expect(recovery.isComplete)
        #expect(!recovery.isCommitCutShort)
    }

    /// In these an orphan had keys of other objects, a leaf was reached through an inner node of another time, the root of a
    /// tree was used again for a leaf, and
    /// lists of free
    /// space lay where a set had been.
    @Test(arguments: [399, 501, 953, 1127, 1282, 1354] as [UInt64])
    func `Leaves in the place of others, and free lists in the place of values, mislead nobody`(seed: UInt64) throws {
        let realm = try TemporaryRealm()
        let history = try RecordedHistory(seed: seed, path: realm.path)
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: nil), history.options)
        #expect(history.truth.faults(of: recovery) == [])
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `An encrypted file is searched like a plain one`(seed: UInt64) throws {
        let realm = try TemporaryRealm()
        let key = try EncryptionKey(bytes: Fixtures.key)
        let history = try RecordedHistory(seed: seed, path: realm.path, key: key)
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: key), history.options)
        #expect(history.truth.faults(of: recovery) == [])
        #expect(history.truth.missing(in: recovery) == [])
    }

    @Test(arguments: TestRun.seeds(quick: 6, long: 200))
    func `A commit that was cut short before its last bit is unfinished, and proves nothing wrong`(seed: UInt64) throws {
        let realm = try TemporaryRealm()
        let history = try RecordedHistory(seed: seed, path: realm.path)
        var bytes = try realm.bytes
        // The bit that selects the version before.
        bytes[23] ^= 1
        try realm.write(bytes)
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: nil), history.options)
        let truth = history.truth.withoutNewest()
        #expect(recovery.present.number == truth.newest)
        #expect(recovery.isCommitCutShort)
        #expect(truth.faults(of: recovery) == [])
        let unfinished = recovery.lines.filter { $0.kind == .unfinished }
        #expect(unfinished.allSatisfy { $0.versions + $0.unprovenVersions == [truth.newest + 1] })
    }

    @Test func `A search changes nothing of the file and its folder`() throws {
        let realm = try TemporaryRealm()
        let history = try RecordedHistory(seed: 3, path: realm.path)
        let folder = System.folder(of: realm.path)
        let (bytes, names, facts) = (try realm.bytes, try System.names(inFolder: folder), try System.facts(path: realm.path))
        let file = try EvidenceFile(path: realm.path, key: nil)
        let recovery = try Recovery(file, history.options)
        let report = RecoveryReport(recovery, recovery.lines, tool: "test", options: [])
        #expect(report.digestAfter == file.digest)
        #expect(try realm.bytes == bytes)
        #expect(try System.names(inFolder: folder).sorted() == names.sorted())
        #expect(try System.facts(path: realm.path) == facts)
    }
}
