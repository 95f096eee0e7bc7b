// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What is known of a realm that is not open.
@Suite struct ClosedFactsTests {
    @Test func `a file of an old format whose list of free blocks is damaged is described all the same`() throws {
        var bytes = try LegacyFixtures.bytes("v9-blob")
        let slot = Int(bytes[23] & 1)
        let top = (0..<8).reduce(0) { $0 | Int(bytes[8 * slot + $1]) << (8 * $1) }
        try #require(bytes[top + 4] & 7 == 6, "the slots of the top node have 32 bits")
        // The lengths of free blocks are where no node can be.
        bytes.replaceSubrange(top + 24..<top + 28, with: [8, 0, 0, 0])
        let path = NSTemporaryDirectory() + "closed-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let facts = try ClosedRealm(attached: try #require(RealmName("a")), path: path, Database.OpenOptions()).readFacts()
        #expect(facts.usedBytes == nil && facts.fileFormat == 9 && facts.mode == .copy)
    }
}
