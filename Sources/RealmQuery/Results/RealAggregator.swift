// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines a float or double property of the class itself, straight from the packed leaves.
final class RealAggregator: ResultAggregator {
    let key: SortKey
    /// The way in which the values of the property are combined.
    private let function: AggregateRequest.Function
    /// The sum and the number of the values so far, for sums and averages.
    private var real = RealSum()
    /// The least or greatest value so far; nil before the first one.
    private var extreme: Double?

    /// Creates the aggregator for a float or double property of the class itself.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    /// Adds the values of several rows, with kernels on the packed array of the leaf.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard key.column.type == .float else {
            let values = try leaf.attachDoubles(key.column)
            switch function {
            case .sum, .average: values.add(rows, to: &real)
            case .min: takeLeast(values.minimum(rows))
            case .max: takeGreatest(values.maximum(rows))
            }
            return
        }
        switch try leaf.attach(key.column) {
        case .float(let values):
            switch function {
            case .sum, .average: values.add(rows, to: &real)
            case .min: takeLeast(values.minimum(rows).map { Double($0) })
            case .max: takeGreatest(values.maximum(rows).map { Double($0) })
            }
        default: break
        }
    }

    /// Whether sums of two parts of a class are calculated together faster than one after the other.
    var isSum: Bool { key.column.type == .double && (function == .sum || function == .average) }

    /// Adds the values of all rows of a leaf, and those of another leaf to another aggregator for the same request.
    func add(_ leaf: ClusterLeaf, and otherLeaf: ClusterLeaf, to other: RealAggregator) throws(StorageError) {
        let values = try leaf.attachDoubles(key.column)
        values.add(to: &real, and: try otherLeaf.attachDoubles(key.column), to: &other.real)
    }

    var partial: AggregatePartial { .real(real, extreme: extreme) }

    func merge(_ partial: AggregatePartial) {
        guard case .real(let real, let extreme) = partial else { return }
        self.real.add(real)
        if function == .min { takeLeast(extreme) } else { takeGreatest(extreme) }
    }

    /// Keeps a number if it is less than all numbers before it.
    private func takeLeast(_ number: Double?) {
        if let number { extreme = extreme.map { Swift.min($0, number) } ?? number }
    }

    /// Keeps a number if it is greater than all numbers before it.
    private func takeGreatest(_ number: Double?) {
        if let number { extreme = extreme.map { Swift.max($0, number) } ?? number }
    }

    /// The result so far. A sum and an average are doubles, an extreme has the type of the property.
    var result: AggregateResult {
        switch function {
        case .sum: return .value(.double(real.sum))
        case .average: return .value(real.average.map(Value.double) ?? .null)
        case .min, .max:
            guard let extreme else { return .value(.null) }
            return .value(key.column.type == .float ? .float(Float(extreme)) : .double(extreme))
        }
    }
}
