// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A request for one number, or one date, over a whole result, such as the sum of a property.
package struct AggregateRequest: Sendable, Hashable {
    /// The ways to combine the values of a property. The raw values are the names that error messages show.
    package enum Function: String, Sendable { case min, max, sum, average }

    /// How the values of a property become one.
    package enum Combination: Sendable, Hashable {
        /// One after the other.
        case function(Function)
        case statistic(Statistic)
    }

    package let combination: Combination
    /// The key path of a property, possibly through to-one links.
    package let path: String

    /// Creates a request for an aggregate of one property.
    ///
    /// - Parameters:
    ///   - function: The way in which the values are combined.
    ///   - path: The key path of a property.
    package init(_ function: Function, _ path: String) { self.init(.function(function), path) }

    package init(_ combination: Combination, _ path: String) {
        self.combination = combination
        self.path = path
    }

    /// Whether the aggregate takes all values at once.
    package var isStatistic: Bool {
        if case .statistic = combination { return true }
        return false
    }

    /// Throws `QueryError.invalid` with `typeMismatch` unless values of a type can be combined in this way.
    func require(_ type: ColumnType) throws(QueryError) {
        switch combination {
        case .function(let function): try function.require(type, of: path)
        case .statistic(let statistic): try statistic.require(type, of: path)
        }
    }
}

extension AggregateRequest.Function {
    /// The operator of the query language that combines values in the same way.
    var aggregateOperator: AggregateOperator {
        switch self {
        case .min: return .min
        case .max: return .max
        case .sum: return .sum
        case .average: return .average
        }
    }
}

/// The outcome of an aggregate, such as a sum, over a whole result.
package enum AggregateResult: Sendable {
    /// The value. It is null when there was nothing to combine, except that a sum of nothing is 0.
    case value(Value)
    /// The exact sum of integers does not fit into 64 bits, so there is no value.
    case overflow
}
