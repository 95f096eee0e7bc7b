// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines the values of a result one by one, for one aggregate over it.
///
/// The rules are those of aggregates in the query language, except that integers are summed up
/// exactly: a sum that does not fit into 64 bits is reported instead of wrapped around.
struct ValueFold: Sendable {
    /// The way in which the values are combined.
    private let function: AggregateRequest.Function
    private let type: ColumnType
    /// The fold of the values, by the rules of aggregates in the query language.
    private var aggregation: Aggregation
    /// The exact sum of integers, which the fold would wrap around.
    private var intSum: Int128 = 0

    /// Starts a fold of values of a type that supports the function.
    init(_ function: AggregateRequest.Function, of type: ColumnType) {
        self.function = function
        self.type = type
        aggregation = Aggregation(function.aggregateOperator, of: type)
    }

    /// Adds one value. Nulls and missing values are left out.
    mutating func add(_ value: Value) {
        guard !value.isMissing else { return }
        if case .int(let number) = value { intSum += Int128(number) }
        aggregation.add(value)
    }

    /// Adds the values of another fold of the same kind.
    mutating func merge(_ other: ValueFold) {
        intSum += other.intSum
        aggregation.merge(other.aggregation)
    }

    /// The result so far; `overflow` when the exact sum of integers does not fit into 64 bits.
    var result: AggregateResult {
        if function == .sum, type == .int {
            return Int64(exactly: intSum).map { .value(.int($0)) } ?? .overflow
        }
        return .value(aggregation.result)
    }
}
