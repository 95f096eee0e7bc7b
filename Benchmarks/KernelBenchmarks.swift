// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Measures the kernels over packed arrays alone, on leaves of 256 elements that stay in the
/// cache; the unit is nanoseconds per row.
struct KernelBenchmarks {
    /// Measures the time of each kernel as the median of several runs.
    let harness: Harness
    /// The codes of the element widths from 1 to 64 bits.
    private let widthCodes = 1...7

    /// Measures all kernels, and prints a table with one column for each width.
    ///
    /// - Throws: `BenchmarkError` or `StorageError` when the leaves cannot be made.
    func run() throws {
        let widths = widthCodes.map { fixed(Double((1 << $0) >> 1), decimals: 0, width: 8) }
        print(padded("nanoseconds per row, by bits", 34) + widths.joined())
        let columns = try widthCodes.map { try Leaves(widthCode: $0) }
        let rows = Mask.capacity
        row("count where > constant", columns) { $0.count { $0.compare(.greater, $1, count: rows) } }
        row("count where > constant, nullable", columns) {
            $0.count { $0.compare(.greater, $1, start: 1, count: rows) }
        }
        row("count where == constant", columns) { $0.count { $0.compare(.equal, $1, count: rows) } }
        row("count where in a range", columns) { $0.count { $0.isBetween($1 &- 1, $1, count: rows) } }
        let few = IntegerSet(1...5)
        let many = IntegerSet((0..<60).map { $0 * 3 })
        row("count where in 5 constants", columns) { $0.count { leaf, _ in leaf.isMember(of: few, count: rows) } }
        row("count where in 60 constants", columns) { $0.count { leaf, _ in leaf.isMember(of: many, count: rows) } }
        row("count where less than a neighbour", columns) { $0.countPairs { $0.compare(.less, with: $1, count: rows) } }
        row("sum", columns) { $0.total { leaf, _ in Int64(truncatingIfNeeded: leaf.sum(count: rows)) } }
        row("sum of every other row", columns) { $0.total { Int64(truncatingIfNeeded: $0.sum($1)) } }
        row("maximum", columns) { $0.total { leaf, _ in leaf.maximum(count: rows) ?? 0 } }
        row("maximum of every other row", columns) { $0.total { $0.maximum($1) ?? 0 } }
        try reals()
    }

    /// Measures one kernel with all widths, and prints its line.
    ///
    /// - Parameters:
    ///   - columns: The leaves of each width.
    ///   - body: Runs the kernel over all leaves; its result keeps the work alive.
    private func row(_ name: String, _ columns: [Leaves], _ body: (Leaves) -> Int) {
        let figures = columns.map { leaves in
            let perRun = harness.nanoseconds(repetitions: 100) { keep(body(leaves)) }
            return fixed(perRun / Double(Leaves.count * Mask.capacity), width: 8)
        }
        print(padded(name, 34) + figures.joined())
    }

    /// Measures the kernels over doubles.
    private func reals() throws {
        print("\n" + padded("doubles", 34) + "  ns/row")
        let leaves = try RealLeaves()
        let all = Mask(first: Mask.capacity)
        let some = Mask(words: SIMD4(repeating: 0x7777_7777_7777_7777))
        report("count where > constant") { leaves.count { $0.compare(.greater, 500, order: .ieee) } }
        report("count where < constant, general") { leaves.count { $0.compare(.less, 500, order: .general) } }
        report("count where null") { leaves.count { $0.nulls() } }
        report("sum") { leaves.sum(all) }
        report("sum of three of four rows") { leaves.sum(some) }
        report("maximum") { leaves.count { Mask(first: Int($0.maximum(all) ?? 0) & 1) } }
        report("first 20, descending") { leaves.top(20) }
    }

    /// Measures one kernel over doubles, and prints its line.
    ///
    /// - Parameters:
    ///   - body: Runs the kernel over all leaves; its result keeps the work alive.
    private func report(_ name: String, _ body: () -> Int) {
        let perRun = harness.nanoseconds(repetitions: 100) { keep(body()) }
        print(padded(name, 34) + fixed(perRun / Double(Leaves.count * Mask.capacity), width: 8))
    }
}
