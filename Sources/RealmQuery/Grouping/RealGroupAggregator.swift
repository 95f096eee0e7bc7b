// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines a float or double property of the class itself for each group, straight from the packed
/// leaves. Nulls and NaNs are left out.
final class RealGroupAggregator: GroupAggregator {
    let key: SortKey
    /// The way in which the values of the property are combined.
    private let function: AggregateRequest.Function
    private var sums: [RealSum] = []
    /// The least or greatest value of each group so far; NaN before the first one.
    private var extremes: [Double] = []

    /// Whether sums are kept, and not extremes.
    private var isSum: Bool {
        switch function {
        case .sum, .average: return true
        case .min, .max: return false
        }
    }

    /// Creates the aggregator for a float or double property of the class itself.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        if isSum { sums.extend(to: count, with: RealSum()) } else { extremes.extend(to: count, with: .nan) }
        switch try key.values(of: leaf) {
        case .double(let values): add(rows, groups) { values.double($0) ?? .nan }
        case .float(let values): add(rows, groups) { values.float($0).map(Double.init) ?? .nan }
        default: break
        }
    }

    /// Adds the numbers of several rows, which a closure reads.
    @inline(__always)
    private func add(_ rows: Mask, _ groups: [UInt32], _ number: (Int) -> Double) {
        var place = 0
        rows.forEach { row in
            let value = number(row)
            let group = Int(groups[place])
            place &+= 1
            guard !value.isNaN else { return }
            switch function {
            case .sum, .average:
                sums[group].sum += value
                sums[group].count &+= 1
            // A comparison with NaN is false, so the first value is taken.
            case .min: if !(extremes[group] <= value) { extremes[group] = value }
            case .max: if !(extremes[group] >= value) { extremes[group] = value }
            }
        }
    }

    var bytesPerGroup: Int { isSum ? MemoryLayout<RealSum>.stride : MemoryLayout<Double>.stride }

    func release() {
        sums = []
        extremes = []
    }

    func result(of group: Int) -> AggregateResult {
        switch function {
        case .sum: return .value(.double(sums[group].sum))
        case .average: return .value(sums[group].average.map(Value.double) ?? .null)
        case .min, .max:
            let extreme = extremes[group]
            if extreme.isNaN { return .value(.null) }
            return .value(key.column.type == .float ? .float(Float(extreme)) : .double(extreme))
        }
    }
}
