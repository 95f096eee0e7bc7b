// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmHosting

/// The order of use gives the realm that was unused for longest, whatever was used since it was last asked.
@Suite struct UseOrderTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `names come out in the order of their last known use, each once`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var order = UseOrder()
        var model: [String: UInt64] = [:]
        for step in 0..<2000 {
            let name = "r\(Int.random(in: 0..<60, using: &generator))"
            if Bool.random(using: &generator) {
                let use = UInt64.random(in: 0..<1000, using: &generator)
                order.insert(name, lastUse: Instant(nanoseconds: use))
                if model[name] == nil { model[name] = use }
            } else if let first = order.popFirst() {
                #expect(model[first.name] == first.lastUse.nanoseconds, "seed \(seed), step \(step)")
                #expect(model.values.min() == first.lastUse.nanoseconds, "seed \(seed), step \(step)")
                model[first.name] = nil
            } else {
                #expect(model.isEmpty, "seed \(seed), step \(step)")
            }
            #expect(order.count == model.count, "seed \(seed), step \(step)")
        }
    }
}
