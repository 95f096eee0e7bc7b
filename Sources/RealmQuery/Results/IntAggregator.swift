// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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
        let values = try leaf.attachIntegers(key.column)
        switch function {
        case .sum:
            let (partial, _) = values.sum(rows)
            sum += partial
        case .average: values.add(rows, to: &real)
        case .min: take(values.minimum(rows))
        case .max: take(values.maximum(rows))
        }
    }

    /// Keeps a number if it exceeds the extreme so far.
    private func take(_ number: Int64?) {
        guard let number else { return }
        extreme = extreme.map { function == .min ? Swift.min($0, number) : Swift.max($0, number) } ?? number
    }

    var partial: AggregatePartial { .int(sum: sum, real: real, extreme: extreme) }

    func merge(_ partial: AggregatePartial) {
        guard case .int(let sum, let real, let extreme) = partial else { return }
        self.sum += sum
        self.real.add(real)
        take(extreme)
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
