// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmRecovery

/// Files whose whole past is known: nothing is invented, and not less is found than was once found.
@Suite("Known past")
struct KnownPastTests {
    /// Searches a copy of a fixture, and returns what is printed.
    private static func lines(_ name: String, hasEvidence: Bool = false) throws -> [[UInt8]] {
        let realm = try TemporaryRealm()
        try realm.write(try RecoveryFixtures.realm(name))
        let recovery = try Recovery(try EvidenceFile(path: realm.path, key: try RecoveryFixtures.key(name)))
        var lines: [[UInt8]] = []
        let report = RecoveryReport(recovery, recovery.lines, tool: "test", options: [])
        report.writeLines(hasEvidence: hasEvidence) { lines.append($0) }
        return lines
    }

    @Test(arguments: RecoveryFixtures.names)
    func `Nothing is invented, and enough is found`(_ name: String) throws {
        let lines = try KnownPastTests.lines(name).map { try ParsedJSON(parsing: $0) }
        let score = RecoveryScore(truth: try RecoveryFixtures.truth(name), lines: lines)
        #expect(score.faults == [])
        for (share, value) in score.recalls {
            guard let floor = try RecoveryFixtures.floors(name)?[share.text], let least = Double("\(floor)") else { continue }
            #expect(value + 1e-9 >= least, "\(share)")
        }
        let isCutShort = lines.first?["$begin"]?["commitCutShort"]
        #expect(isCutShort == .bool(name.hasPrefix("cut-short")))
    }

    @Test(arguments: RecoveryFixtures.names)
    func `Two searches print the same`(_ name: String) throws {
        let (one, other) = (try KnownPastTests.lines(name, hasEvidence: true), try KnownPastTests.lines(name, hasEvidence: true))
        // The last line has the seconds.
        #expect(one.dropLast() == other.dropLast())
    }

    @Test func `Of a compacted file nothing is found`() throws {
        let realm = try TemporaryRealm()
        try realm.write(try RecoveryFixtures.realm("churn"))
        let copy = realm.path + ".copy"
        try SnapshotCopy.write(try Snapshot(file: try RealmFile(path: realm.path)), toFile: copy, key: nil)
        let recovery = try Recovery(try EvidenceFile(path: copy, key: nil))
        #expect(recovery.lines.isEmpty)
        #expect(recovery.isComplete)
    }
}
