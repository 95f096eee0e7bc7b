// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// The first rows of an order.
@Suite struct TopKTests {
    private static let seed: UInt64 = 20_240_611

    @Test(arguments: [0, 1, 2, 20, 300])
    func `the first rows are those of a stable sort`(_ limit: Int) {
        var random = SeededGenerator(seed: TopKTests.seed)
        for descending in [false, true] {
            let values = (0..<200).map { _ in Int64.random(in: -10...10, using: &random) }
            var top = TopK(limit: limit)
            for (row, value) in values.enumerated() {
                let key = descending ? OrderKey(value).reversed : OrderKey(value)
                if let worst = top.worst, key > worst { continue }
                top.offer(key, Int64(row))
            }
            let rows = values.indices.sorted {
                values[$0] != values[$1] ? (values[$0] < values[$1]) != descending : $0 < $1
            }
            #expect(top.sorted().map(\.row) == rows.prefix(limit).map(Int64.init), "seed \(TopKTests.seed)")
            #expect(top.count == min(limit, 200))
        }
    }

    @Test func `equal keys are ordered by what else the sort asks for`() {
        var random = SeededGenerator(seed: TopKTests.seed)
        let values = (0..<200).map { _ in (Int64.random(in: 0...3, using: &random), Int.random(in: 0...9, using: &random)) }
        let order = { (left: Int64, right: Int64) in values[Int(left)].1 - values[Int(right)].1 }
        var top = TopK(limit: 30)
        for (row, value) in values.enumerated() { top.offer(OrderKey(value.0), Int64(row), order: order) }
        let rows = values.indices.sorted {
            values[$0].0 != values[$1].0
                ? values[$0].0 < values[$1].0
                : values[$0].1 != values[$1].1 ? values[$0].1 < values[$1].1 : $0 < $1
        }
        #expect(top.sorted(order: order).map(\.row) == rows.prefix(30).map(Int64.init), "seed \(TopKTests.seed)")
    }
}
