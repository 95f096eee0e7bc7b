// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A comparison with a constant, reduced to what remains of it once the range of the elements is
/// known.
///
/// All six relations are one of two tests, perhaps inverted: on integers `x < n` is the inverse of
/// `x > n - 1`.
enum RangedComparison: Equatable {
    /// No element passes, because of the range.
    case never
    /// Every element passes, because of the range.
    case always
    /// Elements that equal the number pass, or with `inverted` all others.
    case equal(Int64, inverted: Bool)
    /// Elements above the number pass, or with `inverted` all others.
    case greater(Int64, inverted: Bool)

    /// Reduces the comparison `op` with `needle` for elements that are all in `range`.
    ///
    /// - Parameters:
    ///   - op: The relation of an element to `needle`.
    ///   - needle: The constant, which may be outside of the range.
    ///   - range: The range of all elements of the array's width.
    init(_ op: Relation, _ needle: Int64, in range: ClosedRange<Int64>) {
        switch op {
        case .equal: self = range.contains(needle) ? .equal(needle, inverted: false) : .never
        case .notEqual: self = range.contains(needle) ? .equal(needle, inverted: true) : .always
        case .greater: self = RangedComparison.greater(than: needle, in: range, inverted: false)
        case .lessOrEqual: self = RangedComparison.greater(than: needle, in: range, inverted: true)
        case .greaterOrEqual: self = RangedComparison.atLeast(needle, in: range, inverted: false)
        case .less: self = RangedComparison.atLeast(needle, in: range, inverted: true)
        }
    }

    /// Reduces `x > needle`, or its inverse, for elements in `range`.
    private static func greater(
        than needle: Int64, in range: ClosedRange<Int64>, inverted: Bool
    ) -> RangedComparison {
        if needle < range.lowerBound { return inverted ? .never : .always }
        if needle >= range.upperBound { return inverted ? .always : .never }
        return .greater(needle, inverted: inverted)
    }

    /// Reduces `x >= needle`, or its inverse: it is `x > needle - 1` unless there is no such
    /// number.
    private static func atLeast(_ needle: Int64, in range: ClosedRange<Int64>, inverted: Bool) -> RangedComparison {
        guard needle > .min else { return inverted ? .never : .always }
        return greater(than: needle &- 1, in: range, inverted: inverted)
    }
}
