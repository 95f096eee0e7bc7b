// SPDX-License-Identifier: Apache-2.0

@testable import RealmCalls
@testable import RealmFormats
import Testing

@Suite("Versions that a subscription skips")
struct SkippedVersionTests {
    /// All readers of the definition lost their positions, also those of other clients.
    @Test func `a skipped write that cannot be told from others costs the positions before it, and none after it`() {
        let skipped = SkippedVersions()
        skipped.add(5)
        #expect(!skipped.isLost(at: 4))
        skipped.lose(upTo: 7)
        skipped.lose(upTo: 6)
        skipped.add(9)
        #expect(skipped.isLost(at: 4) && skipped.isLost(at: 6) && !skipped.isLost(at: 7))
        #expect(skipped.first(after: 7, upTo: 20) == 9)
        #expect(skipped.first(after: 4, upTo: 8) == 5)
    }
}
