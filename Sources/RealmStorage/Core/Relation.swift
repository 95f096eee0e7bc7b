// SPDX-License-Identifier: Apache-2.0

/// One of the six ways to compare two ordered values.
///
/// Conditions of queries, kernels and index look-ups use these. The code that compares values
/// decides whether null or NaN satisfies a relation, because it differs between types.
package enum Relation: UInt8, Sendable, CaseIterable {
    /// All six relations; the raw values have no meaning in files.
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The relation that has the same result with both sides exchanged: `a < b` is `b > a`.
    @inlinable package var mirrored: Relation {
        switch self {
        case .equal, .notEqual: return self
        case .less: return .greater
        case .lessOrEqual: return .greaterOrEqual
        case .greater: return .less
        case .greaterOrEqual: return .lessOrEqual
        }
    }

    /// The relation that is true exactly when this one is false, among values that are neither null nor NaN.
    @inlinable package var negated: Relation {
        switch self {
        case .equal: return .notEqual
        case .notEqual: return .equal
        case .less: return .greaterOrEqual
        case .lessOrEqual: return .greater
        case .greater: return .lessOrEqual
        case .greaterOrEqual: return .less
        }
    }

    /// Whether the relation asks for an order, not for equality or inequality.
    @inlinable package var isOrdering: Bool { self != .equal && self != .notEqual }

    /// Whether two equal values satisfy the relation; two nulls then do, too.
    @inlinable package var includesEqual: Bool {
        self == .equal || self == .lessOrEqual || self == .greaterOrEqual
    }

    /// Returns whether two values of one type satisfy the relation.
    @inlinable package func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: return left == right
        case .notEqual: return left != right
        case .less: return left < right
        case .lessOrEqual: return left <= right
        case .greater: return left > right
        case .greaterOrEqual: return left >= right
        }
    }
}
