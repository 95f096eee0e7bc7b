// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Tests whose rows are files that they find would pass without a row.
@Suite struct MaterialTests {
    @Test func `the fixtures are there, and what their writer put in`() throws {
        // As many are kept in the repository.
        #expect(Fixtures.names.count >= 31)
        #expect(Fixtures.namesWithDump.count >= 28)
        for name in Fixtures.namesWithDump { #expect(Fixtures.names.contains(name)) }
    }

    @Test(arguments: [
        ("damaged files", DamageTests.fixtures), ("indexes", IndexFixtureTests.names),
        ("index commits", IndexCommitTests.fixtures),
        ("leaves", LeafFixtureTests.names), ("trees", CommittedTreeTests.fixtures), ("clusters", CommittedClusterTests.fixtures),
        ("commits", CommitTreesTests.fixtures), ("damaged trees", CommitTreesTests.smallFixtures),
        ("copies", SnapshotCopyTests.names), ("audits", SpaceAuditTests.fixtures), ("strings", KernelsStringTests.plainFixtures),
    ])
    func `every list of fixtures has some`(_ subject: String, _ names: [String]) { #expect(names.count >= 5, "\(subject)") }
}
