// SPDX-License-Identifier: Apache-2.0

@testable import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

/// What quick proofs are made of.
@Suite("Verify parts")
struct VerifyPartTests {
    /// Sets of keys that take each of the forms.
    private static let keySets: [[Int64]] = [
        [], [0], Array(0..<600), Array(5..<6), (0..<900).filter { $0 % 7 != 3 }, (0..<600).map { $0 * 1_000_003 },
        (0..<5).flatMap { block in (0..<256).map { block << 16 + $0 } }, [0, .max - 1], (1..<300).map { $0 * $0 },
    ]

    @Test func `The text of what is not kept is not made`() {
        var report = VerifyReport()
        var count = 0
        func text() -> String {
            count += 1
            return "number \(count)"
        }
        for _ in 0..<1000 {
            report.warn(text())
            report.error(text())
        }
        #expect(report.warnings.count == VerifyReport.maximumCount && report.errors.count == VerifyReport.maximumCount)
        #expect(count == 2 * VerifyReport.maximumCount)
    }

    @Test(arguments: keySets)
    func `Keys are found, and have a slot each`(_ numbers: [Int64]) throws {
        let scratch = try TreeScratch("lists")
        let writer = ClusterWriter(scratch.writes, columns: [])
        var root = Ref.none
        for number in numbers { root = try writer.insert(ObjectKey(number), in: root) }
        let keys = try #require(VerifiedKeys(ClusterTree(root: root, space: scratch.writes.space)))
        #expect(keys.count == numbers.count)
        #expect(keys.hasSlots && !keys.hasNegative && keys.hasLive == !numbers.isEmpty)
        #expect(keys.slotCount <= 2 * numbers.count)
        let known = Set(numbers)
        var slots: Set<Int> = []
        for number in numbers {
            let slot = try #require(keys.slot(of: ObjectKey(number)))
            #expect(slot >= 0 && slot < keys.slotCount && slots.insert(slot).inserted)
            #expect(keys.contains(ObjectKey(number)))
            for other in [number &- 1, number &+ 1, number &+ 65_536, -number] where !known.contains(other) {
                #expect(!keys.contains(ObjectKey(other)) && keys.slot(of: ObjectKey(other)) == nil, "\(other)")
            }
        }
        var cursor = ClusterTree(root: root, space: scratch.writes.space).leaves()
        var position = 0
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count {
                #expect(keys.slot(leaf, row, position: position) == keys.slot(of: leaf.key(at: row)))
            }
            position += leaf.count
        }
    }

    @Test func `A sum tells collections apart, in whatever order they come`() {
        let hash = ProofHash()
        func state(_ words: [UInt64]) -> UInt64 { words.reduce(hash.start) { hash.step($0, $1) } }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let pairs = (0..<20).map { _ in [generator.next() & 7, generator.next() & 7] }
            var sum = ProofSum()
            for pair in pairs { sum.add(state(pair), hash) }
            #expect(!sum.isZero)
            var same = sum
            for pair in pairs.shuffled(using: &generator) { same.subtract(state(pair), hash) }
            #expect(same.isZero)
            // The same words, in pairs with others.
            var others = pairs
            let (first, second) = (Int.random(in: 0..<20, using: &generator), Int.random(in: 0..<20, using: &generator))
            (others[first][0], others[second][0]) = (others[second][0], others[first][0])
            for pair in others { sum.subtract(state(pair), hash) }
            #expect(sum.isZero == (others.map(\.description).sorted() == pairs.map(\.description).sorted()))
        }
    }

    @Test func `Uneven links are found in a second ledger`() {
        var ledger = LinkLedger(ProofHash(), isExact: false)
        let page = ledger.page(origin: TableKey(1), column: 2, target: TableKey(3))
        func enter(_ ledger: inout LinkLedger) {
            for number in 0..<Int64(5_000) { ledger.add(ObjectKey(number), ObjectKey(number / 3), page) }
            for number in 0..<Int64(5_000) where number % 2_000 != 7 {
                ledger.subtract(ObjectKey(number), ObjectKey(number / 3), page)
            }
            ledger.subtract(ObjectKey(9_000), ObjectKey(1), page)
        }
        #expect(ledger.isEven)
        enter(&ledger)
        #expect(!ledger.isEven)
        var second = LinkLedger(unevenOf: ledger)
        enter(&second)
        #expect(second.uneven.map(\.link.originKey.rawValue) == [7, 2_007, 4_007, 9_000])
        #expect(second.uneven.map(\.count) == [1, 1, 1, -1])
    }

    @Test func `Owners are counted, however many there are`() throws {
        let scratch = try TreeScratch("lists")
        let writer = ClusterWriter(scratch.writes, columns: [])
        let root = try writer.insert(ObjectKey(4), in: try writer.insert(ObjectKey(1), in: .none))
        let listed = try #require(VerifiedKeys(ClusterTree(root: root, space: scratch.writes.space)))
        for keys in [VerifiedKeys([ObjectKey(1), ObjectKey(4)]), listed] {
            for limit: UInt64 in [0, 1 << 20] {
                var counts = OwnerCounts(keys, limit: limit)
                #expect(!counts.areAllOne)
                for _ in 0..<600 { counts.add(ObjectKey(4)) }
                counts.add(ObjectKey(2))
                #expect([1, 2, 4].map { counts.count(of: ObjectKey($0)) } == [0, 0, 600])
            }
        }
    }
}
