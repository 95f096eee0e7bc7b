// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A test of one value of an object, which a query demands of its matches.
///
/// It is made of a condition on a stored property, but reads no leaf, so it belongs to no version. It decides as the condition
/// does, except that it admits texts which would take long.
package struct ValueTest {
    /// The ways to test a value.
    private enum Kind {
        /// The value is compared with a constant, whose bytes belong to the `QueryDemand`.
        case comparison(Comparator, Value)
        /// The value is an int within limits.
        case range(ClosedRange<Int64>)
        /// The value is one of the constants of a condition.
        case membership(ConstantSet)
    }

    /// The length in bytes of the longest text that is tested; longer ones are admitted.
    private static let longestTestedByteCount = 4096

    package let column: ColumnKey
    private let kind: Kind
    /// Whether the value must not pass the test.
    private let isNegated: Bool

    private init(_ column: ColumnKey, _ kind: Kind, isNegated: Bool = false) {
        self.column = column
        self.kind = kind
        self.isNegated = isNegated
    }

    /// Makes the test of a comparison with a constant.
    init(_ condition: ColumnCondition) {
        self.init(condition.column.key, .comparison(condition.comparator, condition.constant))
    }

    /// Makes the test of a range of ints.
    init(_ condition: RangeCondition) { self.init(condition.column.key, .range(condition.limits)) }

    /// Makes the test of a list of constants.
    init(_ condition: MembershipCondition) { self.init(condition.column.key, .membership(condition.members)) }

    /// The test that admits what this one does not.
    var negated: ValueTest { ValueTest(column, kind, isNegated: !isNegated) }

    /// Returns whether an object with a value may match; true as well for long texts, which are not tested.
    ///
    /// - Parameter value: The value of the property.
    package func admits(_ value: Value) -> Bool {
        switch kind {
        case .range(let limits):
            guard case .int(let number) = value else { return isNegated }
            return limits.contains(number) != isNegated
        case .membership(let members): return members.contains(value) != isNegated
        case .comparison(let comparator, let constant):
            switch value {
            case .string(let text), .binary(let text):
                if text.count > ValueTest.longestTestedByteCount { return true }
            default: break
            }
            return comparator.holds(value, constant) != isNegated
        }
    }
}
