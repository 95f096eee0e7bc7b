// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One number asked of a whole result.
package struct AggregateRequest: Sendable, Hashable {
    package enum Function: String, Sendable { case min, max, sum, average }

    package let function: Function
    /// A property, possibly behind to-one links.
    package let path: String

    package init(_ function: Function, _ path: String) {
        self.function = function
        self.path = path
    }
}

package enum AggregateResult: Sendable {
    /// Null when nothing was left to aggregate; a sum of nothing is 0.
    case value(Value)
    /// The sum of integers does not fit into 64 bits.
    case overflow
}

/// Folds the matches of a leaf. Integers are summed up exactly; nulls and NaNs are left out.
class ResultAggregator {
    let key: SortKey
    let function: AggregateRequest.Function

    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {}

    var result: AggregateResult { .value(.null) }

    /// The aggregator for a path; nil when its type does not take the function.
    static func make(_ function: AggregateRequest.Function, _ key: SortKey) -> ResultAggregator? {
        switch (key.column.type, function) {
        case (.timestamp, .min), (.timestamp, .max):
            return key.isPlainColumn ? DateAggregator(function, key) : ValueAggregator(function, key)
        case (.int, _) where key.isPlainColumn: return IntAggregator(function, key)
        case (.double, _) where key.isPlainColumn, (.float, _) where key.isPlainColumn:
            return RealAggregator(function, key)
        case (.int, _), (.float, _), (.double, _), (.decimal, _), (.mixed, _): return ValueAggregator(function, key)
        default: return nil
        }
    }
}

/// An int property of the class itself: straight from the packed leaves.
private final class IntAggregator: ResultAggregator {
    private var sum: Int128 = 0
    private var count = 0
    private var real = RealSum()
    private var extreme: Int64?

    override func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
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

    override var result: AggregateResult {
        switch function {
        case .sum: return Int64(exactly: sum).map { .value(.int($0)) } ?? .overflow
        case .average: return .value(real.average.map(Value.double) ?? .null)
        case .min, .max: return .value(extreme.map(Value.int) ?? .null)
        }
    }
}

/// A float or double property of the class itself.
private final class RealAggregator: ResultAggregator {
    private var real = RealSum()
    private var extreme: Double?

    override func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
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

    override var result: AggregateResult {
        switch function {
        case .sum: return .value(.double(real.sum))
        case .average: return .value(real.average.map(Value.double) ?? .null)
        case .min, .max:
            guard let extreme else { return .value(.null) }
            return .value(key.column.type == .float ? .float(Float(extreme)) : .double(extreme))
        }
    }
}

/// The earliest or latest date of the class itself.
private final class DateAggregator: ResultAggregator {
    private var extreme: Timestamp?

    override func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard case .timestamp(let values) = try key.values(of: leaf) else { return }
        let isLeast = function == .min
        guard let date = isLeast ? try values.minimum(rows) : try values.maximum(rows) else { return }
        extreme = extreme.map { isLeast ? Swift.min($0, date) : Swift.max($0, date) } ?? date
    }

    override var result: AggregateResult { .value(extreme.map(Value.timestamp) ?? .null) }
}

/// Everything else: decimals, mixed values, dates, and properties behind links.
private final class ValueAggregator: ResultAggregator {
    private var aggregation: Aggregation
    private var intSum: Int128 = 0

    override init(_ function: AggregateRequest.Function, _ key: SortKey) {
        aggregation = Aggregation(function.aggregateOperator, of: key.column.type)
        super.init(function, key)
    }

    override func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in
            let value = try key.value(Row(leaf: leaf, index: row))
            guard !SortKey.isMissing(value) else { return }
            if case .int(let number) = value { intSum += Int128(number) }
            aggregation.add(value)
        }
    }

    override var result: AggregateResult {
        if function == .sum, key.column.type == .int {
            return Int64(exactly: intSum).map { .value(.int($0)) } ?? .overflow
        }
        return .value(aggregation.result)
    }
}

extension AggregateRequest.Function {
    var aggregateOperator: AggregateOperator {
        switch self {
        case .min: return .min
        case .max: return .max
        case .sum: return .sum
        case .average: return .average
        }
    }
}

extension BoundQuery {
    /// Aggregates over the results, after all descriptors, and their count.
    ///
    /// Throws `.invalid` for an unknown path, or one whose type does not take the function.
    package func aggregate(
        _ requests: [AggregateRequest], check: Check? = nil
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        try interrupt.watching(check) { () throws(QueryError) in try aggregateWatched(requests, check) }
    }

    private func aggregateWatched(
        _ requests: [AggregateRequest], _ check: Check?
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        var aggregators: [ResultAggregator] = []
        for request in requests { aggregators.append(try aggregator(request)) }
        var count = 0
        let columns = aggregators.filter { $0.key.isPlainColumn }.map(\.key.column)
        try forEachResult(check, reading: columns) { leaf, rows throws(StorageError) in
            let rowCount = rows.count
            count += rowCount
            for aggregator in aggregators {
                try interrupt.step(rowCount)
                try aggregator.add(leaf, rows)
            }
        }
        return (count, aggregators.map(\.result))
    }

    private func aggregator(_ request: AggregateRequest) throws(QueryError) -> ResultAggregator {
        var resolver = PathResolver(snapshot: snapshot, mapping: mapping, pool: pool)
        resolver.text = request.path
        let key = try resolver.sortKey(try Parser.parsePath(request.path), from: table, isAscending: true)
        guard let aggregator = ResultAggregator.make(request.function, key) else {
            throw QueryError.invalid(
                .typeMismatch,
                detail:
                    "'\(request.function.rawValue)' is not supported for '\(request.path)' of type '\(OperandType(key.column.type).rawValue)'",
                culprit: request.path, position: nil)
        }
        return aggregator
    }

    private func forEachResult(
        _ check: Check?, reading columns: [Column], _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        if let cursor = try cursor(reading: columns) {
            while let (leaf, rows) = try cursor.nextWatched(check) {
                try storage { () throws(StorageError) in try body(leaf, rows) }
            }
            return
        }
        let finder = ObjectFinder(table)
        for key in try execute(check: check) {
            try storage { () throws(StorageError) in
                try interrupt.step()
                guard let row = try finder.find(key) else { return }
                var rows = Mask.none
                rows[row.index] = true
                try body(row.leaf, rows)
            }
        }
    }
}
