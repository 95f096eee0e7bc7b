// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines an int property of the class itself for each group, straight from the packed leaves.
final class IntGroupAggregator: GroupAggregator {
    let key: SortKey
    /// The way in which the values of the property are combined.
    private let function: AggregateRequest.Function
    /// The exact sum of each group so far, which may exceed 64 bits.
    private var sums: [Int128] = []
    /// The sum of each group as a double and its number of values, for averages.
    private var reals: [RealSum] = []
    /// The least or greatest value of each group so far; nil before the first one.
    private var extremes: [Int64?] = []
    /// The elements of one leaf, widened.
    private var integers = [Int64](repeating: 0, count: Mask.capacity)

    /// Creates the aggregator for an int property of the class itself.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        extend(to: count)
        guard case .int(let values) = try key.values(of: leaf) else { return }
        values.elements.copy(rows, start: values.start, into: &integers)
        let null = values.isNullable ? values.nullMarker : nil
        switch function {
        case .sum: forEachValue(rows.count, null) { sums[Int(groups[$0])] += Int128($1) }
        case .average:
            forEachValue(rows.count, null) { place, value in
                reals[Int(groups[place])].sum += Double(value)
                reals[Int(groups[place])].count += 1
            }
        case .min:
            forEachValue(rows.count, null) { place, value in
                let group = Int(groups[place])
                extremes[group] = extremes[group].map { Swift.min($0, value) } ?? value
            }
        case .max:
            forEachValue(rows.count, null) { place, value in
                let group = Int(groups[place])
                extremes[group] = extremes[group].map { Swift.max($0, value) } ?? value
            }
        }
    }

    /// Calls a closure with the place and the value of each row that is not null.
    @inline(__always)
    private func forEachValue(_ count: Int, _ null: Int64?, _ body: (Int, Int64) -> Void) {
        if let null {
            for place in 0..<count where integers[place] != null { body(place, integers[place]) }
        } else {
            for place in 0..<count { body(place, integers[place]) }
        }
    }

    /// Makes room for more groups.
    private func extend(to count: Int) {
        switch function {
        case .sum: sums.extend(to: count, with: 0)
        case .average: reals.extend(to: count, with: RealSum())
        case .min, .max: extremes.extend(to: count, with: nil)
        }
    }

    var bytesPerGroup: Int {
        switch function {
        case .sum: return MemoryLayout<Int128>.stride
        case .average: return MemoryLayout<RealSum>.stride
        case .min, .max: return MemoryLayout<Int64?>.stride
        }
    }

    func release() {
        sums = []
        reals = []
        extremes = []
    }

    func result(of group: Int) -> AggregateResult {
        switch function {
        case .sum: return Int64(exactly: sums[group]).map { .value(.int($0)) } ?? .overflow
        case .average: return .value(reals[group].average.map(Value.double) ?? .null)
        case .min, .max: return .value(extremes[group].map(Value.int) ?? .null)
        }
    }
}
