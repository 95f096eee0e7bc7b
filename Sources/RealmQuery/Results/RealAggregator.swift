// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A float or double property of the class itself.
final class RealAggregator: ResultAggregator {
    let key: SortKey
    private let function: AggregateRequest.Function
    private var real = RealSum()
    private var extreme: Double?

    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        switch try key.values(of: leaf) {
        case .double(let values):
            switch function {
            case .sum, .average: values.add(rows, to: &real)
            case .min: takeLeast(values.minimum(rows))
            case .max: takeGreatest(values.maximum(rows))
            }
        case .float(let values):
            switch function {
            case .sum, .average: values.add(rows, to: &real)
            case .min: takeLeast(values.minimum(rows).map { Double($0) })
            case .max: takeGreatest(values.maximum(rows).map { Double($0) })
            }
        default: break
        }
    }

    private func takeLeast(_ number: Double?) {
        if let number { extreme = extreme.map { Swift.min($0, number) } ?? number }
    }

    private func takeGreatest(_ number: Double?) {
        if let number { extreme = extreme.map { Swift.max($0, number) } ?? number }
    }

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
