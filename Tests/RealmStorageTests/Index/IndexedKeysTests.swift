// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What lists of keys have in common, compared with sets.
@Suite("Lists of keys of an index")
struct IndexedKeysTests {
    /// Makes an ascending list of keys, each of which is a multiple of `step` below `step * range`.
    private func list(_ count: Int, of range: Int, step: Int64, _ random: inout SeededGenerator) -> [ObjectKey] {
        let numbers = Set((0..<count).map { _ in Int64.random(in: 0..<Int64(range), using: &random) * step })
        return numbers.sorted().map { ObjectKey($0) }
    }

    @Test(arguments: [1, 3, 100, 1 << 40] as [Int64])
    func `common keys, without some, and keys of any`(_ step: Int64) throws {
        let seed: UInt64 = 41
        var random = SeededGenerator(seed: seed)
        for round in 0..<60 {
            // Counts differ by far in some rounds, so that keys are looked up, and not in others.
            let counts = (0..<4).map { _ in [0, 1, 5, 60, 900, 4000].randomElement(using: &random) ?? 0 }
            let lists = counts.map { list($0, of: 5000, step: step, &random) }
            let included = Array(lists.prefix(1 + round % 3))
            let excluded = Array(lists.dropFirst(included.count))
            let place = "seed \(seed), round \(round), counts \(counts), step \(step)"
            var expected = Set(included[0])
            for keys in included.dropFirst() { expected.formIntersection(keys) }
            for keys in excluded { expected.subtract(keys) }
            let found = try IndexedKeys.common(to: included.map { IndexedKeys($0) }, without: excluded.map { IndexedKeys($0) })
            #expect(try found.all() == expected.sorted(), "\(place)")
            let any = try IndexedKeys.union(lists.map { IndexedKeys($0) })
            #expect(try any.all() == Set(lists.joined()).sorted(), "\(place)")
            let membership = try KeyMembership(any)
            let set = Set(lists.joined())
            for _ in 0..<200 {
                let near = Int64.random(in: 0..<2, using: &random)
                let key = ObjectKey(Int64.random(in: -1..<5001, using: &random) &* step &+ near)
                #expect(membership.contains(key) == set.contains(key), "\(place), key \(key.rawValue)")
            }
        }
    }

    @Test func `the first key after another one`() throws {
        let keys = [2, 3, 5, 8, 13].map { ObjectKey($0) }
        for number in Int64(0)...14 {
            let expected = keys.firstIndex { $0.rawValue > number } ?? keys.count
            #expect(try IndexedKeys(keys).firstIndex(after: ObjectKey(number)) == expected, "after \(number)")
        }
    }

    @Test func `keys at the ends of the numbers`() throws {
        let keys = [Int64.min, -1, 0, .max].map { ObjectKey($0) }
        #expect(try IndexedKeys.common(to: [IndexedKeys(keys), IndexedKeys(Array(keys[1...]))]).all() == Array(keys[1...]))
        #expect(try KeyMembership(IndexedKeys(keys)).contains(ObjectKey(.max)))
        #expect(KeyBitmap(from: ObjectKey(.min), through: ObjectKey(.max), forKeys: 1000) == nil)
    }
}
