// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Leaves of random doubles between 0 and 1000, for `KernelBenchmarks`.
struct RealLeaves {
    /// The memory of the leaves.
    private let buffers: [PackedBuffer]
    /// The leaves, which refer to `buffers`.
    private let leaves: [DoubleLeaf]

    /// Makes the leaves, with the same numbers in every run.
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

    /// Returns the number of rows that pass a test, over all leaves.
    ///
    /// - Parameter test: Returns the matching rows of a leaf.
    func count(_ test: (DoubleLeaf) -> Mask) -> Int { leaves.reduce(0) { $0 &+ test($1).count } }

    /// Returns the sum of the given rows, over all leaves.
    ///
    /// - Parameter mask: The rows of each leaf.
    func sum(_ mask: Mask) -> Int {
        var total = RealSum()
        for leaf in leaves { leaf.add(mask, to: &total) }
        return Int(total.sum)
    }

    /// Finds the rows with the greatest values, and returns the number of the first one.
    ///
    /// - Parameter limit: The number of rows.
    func top(_ limit: Int) -> Int {
        var top = TopK(limit: limit)
        for (number, leaf) in leaves.enumerated() {
            let rows = top.worst.map { leaf.rows(.greater, $0.reversed) } ?? Mask(first: leaf.count)
            rows.forEach { top.offer(leaf.orderKey($0).reversed, Int64(number << 8 | $0)) }
        }
        return Int(top.sorted().first?.row ?? 0)
    }
}
