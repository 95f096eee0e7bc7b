// SPDX-License-Identifier: Apache-2.0

/// A constant of one number type in relation to the values of another: the same number, or the gap that it falls into.
///
/// Comparing a column of integers with 5.5 is comparing it with the gap between 5 and 6; nothing is rounded.
package enum ConvertedConstant<Number: Comparable & Sendable>: Sendable, Equatable {
    /// The constant is a value of the column's own type.
    case exactly(Number)
    /// The constant is greater than this value and less than the next one.
    case justAbove(Number)
    /// The constant is less than every value.
    case belowAll
    /// The constant is greater than every value.
    case aboveAll
}

/// Doubles compared with integers.
extension ConvertedConstant where Number == Int64 {
    /// Makes the place of `real`, which must not be NaN, among integers.
    init(_ real: Double) {
        // 2^63, the first double above all integers; the least integer is a double.
        let limit = 9_223_372_036_854_775_808.0
        if real >= limit {
            self = .aboveAll
        } else if real < -limit {
            self = .belowAll
        } else {
            let below = real.rounded(.down)
            self = below == real ? .exactly(Int64(below)) : .justAbove(Int64(below))
        }
    }
}

/// Integers compared with doubles.
extension ConvertedConstant where Number == Double {
    /// Makes the place of `integer` among doubles; large integers may fall between two of them.
    package init(_ integer: Int64) {
        let near = Double(integer)
        if Int64(exactly: near) == integer {
            self = .exactly(near)
        } else {
            // At 2^63 the double is greater than any integer.
            let isAbove = near >= 9_223_372_036_854_775_808.0 || Int64(near) > integer
            self = .justAbove(isAbove ? near.nextDown : near)
        }
    }
}

/// Doubles and integers compared with floats.
extension ConvertedConstant where Number == Float {
    /// Makes the place of `real`, which must not be NaN, among floats.
    package init(_ real: Double) {
        let near = Float(real)
        if Double(near) == real {
            self = .exactly(near)
        } else {
            self = .justAbove(Double(near) > real ? near.nextDown : near)
        }
    }

    /// Makes the place of `integer` among floats.
    package init(_ integer: Int64) {
        switch ConvertedConstant<Double>(integer) {
        case .exactly(let real): self.init(real)
        case .justAbove(let real):
            // No float lies between two doubles, but one may be the lower of them.
            let near = Float(real)
            self = .justAbove(Double(near) > real ? near.nextDown : near)
        case .belowAll: self = .belowAll
        case .aboveAll: self = .aboveAll
        }
    }
}

/// Comparisons with a constant that may fall between two values.
extension ConvertedConstant {
    /// A comparison with the constant, as one with a value of the column's own type.
    package enum Comparison: Equatable {
        /// The comparison is equivalent to this one with a value of the column's own type.
        case with(Relation, Number)
        /// The comparison has the same result for every value that is not null.
        case constant(Bool)
    }

    /// Returns the comparison `op` with this constant on the right side.
    package func comparison(_ op: Relation) -> Comparison {
        switch (self, op) {
        case (.exactly(let number), _): return .with(op, number)
        case (_, .equal): return .constant(false)
        case (_, .notEqual): return .constant(true)
        case (.justAbove(let number), .less), (.justAbove(let number), .lessOrEqual): return .with(.lessOrEqual, number)
        case (.justAbove(let number), _): return .with(.greater, number)
        case (.belowAll, _): return .constant(op == .greater || op == .greaterOrEqual)
        case (.aboveAll, _): return .constant(op == .less || op == .lessOrEqual)
        }
    }
}
