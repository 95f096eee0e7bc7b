// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines the values of one property of the results, a leaf at a time.
///
/// Integers are summed up exactly; nulls and NaNs are left out. An aggregator is used for one result.
protocol ResultAggregator: AnyObject {
    /// The property, as a path that may pass through to-one links.
    var key: SortKey { get }

    /// The aggregate over all rows that were added so far.
    var result: AggregateResult { get }

    /// Adds the values of several rows.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class.
    ///   - rows: The rows of the leaf that belong to the result.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError)

    /// The result for the rows that were added so far.
    var partial: AggregatePartial { get }

    /// Adds what is known of other rows.
    ///
    /// - Parameter partial: The partial result of an aggregator for the same function and property.
    func merge(_ partial: AggregatePartial)
}

extension AggregateRequest.Function {
    /// Returns the fastest aggregator for a path; nil when the type of its property does not support the function.
    func aggregator(of key: SortKey) -> (any ResultAggregator)? {
        guard takes(key.column.type) else { return nil }
        guard key.isPlainColumn else { return ValueAggregator(self, key) }
        switch key.column.type {
        case .timestamp: return DateAggregator(self, key)
        case .int: return IntAggregator(self, key)
        case .double, .float: return RealAggregator(self, key)
        default: return ValueAggregator(self, key)
        }
    }

    /// Returns whether values of a type can be combined in this way: numbers and mixed values
    /// always, dates to their least and greatest.
    func takes(_ type: ColumnType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal, .mixed: return true
        case .timestamp: return self == .min || self == .max
        default: return false
        }
    }

    /// Throws `QueryError.invalid` with `typeMismatch` unless the function takes a type.
    ///
    /// - Parameters:
    ///   - path: The key path of the values, for the detail.
    func require(_ type: ColumnType, of path: String) throws(QueryError) {
        guard !takes(type) else { return }
        throw .invalid(
            .typeMismatch, detail: "'\(rawValue)' is not supported for '\(path)' of type '\(OperandType(type).rawValue)'",
            culprit: path, position: nil)
    }
}

/// Finds the earliest or the latest date of a property of the class itself.
final class DateAggregator: ResultAggregator {
    let key: SortKey
    /// The extreme that is wanted: either `min` or `max`.
    private let function: AggregateRequest.Function
    /// The earliest or latest date so far; nil before the first one.
    private var extreme: Timestamp?

    /// Creates the aggregator for `min` or `max` of a timestamp property.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    /// Keeps the extreme date of several rows, if it exceeds those before.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard case .timestamp(let values) = try key.values(of: leaf) else { return }
        take(function == .min ? try values.minimum(rows) : try values.maximum(rows))
    }

    /// Keeps a date if it exceeds the extreme so far.
    private func take(_ date: Timestamp?) {
        guard let date else { return }
        extreme = extreme.map { function == .min ? Swift.min($0, date) : Swift.max($0, date) } ?? date
    }

    var partial: AggregatePartial { .date(extreme) }

    func merge(_ partial: AggregatePartial) { if case .date(let date) = partial { take(date) } }

    var result: AggregateResult { .value(extreme.map(Value.timestamp) ?? .null) }
}
