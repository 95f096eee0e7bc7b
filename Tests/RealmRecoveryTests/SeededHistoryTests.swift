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

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `An encrypted file is searched like a plain one`(seed: UInt64) throws {
        let realm = try TemporaryRealm()
        let key = try EncryptionKey(bytes: Fixtures.key)
        let history = try RecordedHistory(seed: seed, path: realm.path, key: key)
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: key), history.options)
        #expect(history.truth.faults(of: recovery) == [])
        #expect(history.truth.missing(in: recovery) == [])
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
