// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import Testing

@testable import RealmStorage

@Suite("Tests of integers by a range")
struct IntegerTestTests {
    @Test(arguments: Relation.allCases)
    func `every relation, also at the ends of the numbers`(_ relation: Relation) {
        let numbers: [Int64] = [.min, .min + 1, -2, -1, 0, 1, 2, 7, .max - 1, .max]
        for constant in numbers {
            for outcome in [true, false] {
                let test = IntegerTest(relation, constant, outcome: outcome)
                for number in numbers {
                    let expected = relation.holds(number, constant) == outcome
                    #expect(test.passes(number) == expected, "\(number) \(relation) \(constant)")
                }
            }
        }
    }
}
