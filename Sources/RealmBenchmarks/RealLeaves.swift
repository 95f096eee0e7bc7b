// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Leaves of random doubles between 0 and 1000.
struct RealLeaves {
    private let buffers: [PackedBuffer]
    private let leaves: [DoubleLeaf]

    init() throws {
        var random = SplitMix(7)
        buffers = try (0..<Leaves.count).map { _ in
            try PackedBuffer(
                (0..<256).map { _ in
                    Int64(bitPattern: (Double(random.next() >> 11) / 9_007_199_254_740_992 * 1000).bitPattern)
                }, widthCode: 7)
        }
        leaves = try buffers.map { try DoubleLeaf($0.node(asNumbers: true)) }
    }

    func count(_ test: (DoubleLeaf) -> Mask) -> Int { leaves.reduce(0) { $0 &+ test($1).count } }

    func sum(_ mask: Mask) -> Int {
        var total = RealSum()
        for leaf in leaves { leaf.add(mask, to: &total) }
        return Int(total.sum)
    }

    func top(_ limit: Int) -> Int {
        var top = TopK(limit: limit)
        for (number, leaf) in leaves.enumerated() {
            let rows = top.worst.map { leaf.rows(.greater, $0.reversed) } ?? Mask(first: leaf.count)
            rows.forEach { top.offer(leaf.orderKey($0).reversed, Int64(number << 8 | $0)) }
        }
        return Int(top.sorted().first?.row ?? 0)
    }
}
