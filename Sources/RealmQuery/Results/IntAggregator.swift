// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Combines an int property of the class itself, straight from the packed leaves.
final class IntAggregator: ResultAggregator {
    let key: SortKey
    /// The way in which the values of the property are combined.
    private let function: AggregateRequest.Function
    /// The exact sum so far, which may exceed 64 bits.
    private var sum: Int128 = 0
    /// The sum and the number of values as doubles, for the average.
    private var real = RealSum()
    /// The least or greatest value so far; nil before the first one.
    private var extreme: Int64?

    /// Creates the aggregator for an int property of the class itself.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    /// Adds the values of several rows, with kernels on the packed array of the leaf.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard case .int(let values) = try key.values(of: leaf) else { return }
        switch function {
        case .sum:
            let (partial, _) = values.sum(rows)
            sum += partial
        case .average: values.add(rows, to: &real)
        case .min:
            if let least = values.minimum(rows) { extreme = extreme.map { Swift.min($0, least) } ?? least }
        case .max:
            if let greatest = values.maximum(rows) { extreme = extreme.map { Swift.max($0, greatest) } ?? greatest }
        }
    }

    /// The result so far; `overflow` when the exact sum does not fit into 64 bits.
    var result: AggregateResult {
        switch function {
        case .sum: return Int64(exactly: sum).map { .value(.int($0)) } ?? .overflow
        case .average: return .value(real.average.map(Value.double) ?? .null)
        case .min, .max: return .value(extreme.map(Value.int) ?? .null)
        }
    }
}
