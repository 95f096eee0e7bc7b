// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
@testable import RealmCalls
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Change sets that are kept")
struct ChangeRingTests {
    /// About sixty dropped sets of a definition stayed in memory, of up to 64 MiB each.
    @Test(arguments: [(sets: 2, bytes: 1 << 20), (1000, 100), (1000, 10)])
    func `a set that is dropped takes no memory`(_ limit: (sets: Int, bytes: Int)) {
        var limits = Limits()
        limits.retentionSets = limit.sets
        limits.retentionBytes = limit.bytes
        var ring = ChangeRing(base: 1)
        var isHere: [() -> Bool] = []
        for version in 1..<100 as Range<UInt64> {
            let tail = OutputBuffer()
            tail.append(Array(repeating: UInt8(ascii: "x"), count: 40))
            let set = ChangeSet(from: version, to: version + 1, tail: tail, count: 1, isLast: false)
            isHere.append { [weak set] in set != nil }
            ring.append(set, limits: limits)
        }
        let kept = isHere.count { $0() }
        #expect(kept == ring.sets.count && kept == min(limit.sets, limit.bytes / 40))
        #expect(ring.byteCount == kept * 40 && ring.base == 100 - UInt64(kept))
        #expect(ring.place(after: ring.base) == .known(0))
        #expect(ring.place(after: ring.base - 1) == .lost)
    }
}
