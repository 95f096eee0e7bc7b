// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

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
