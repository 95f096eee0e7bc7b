// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A way to compare two single values. The binder chooses it from the operator and the types of both sides.
enum Comparator {
    /// Equality or order of values. Null equals only null; values that cannot be compared are unequal and unordered.
    case relation(Relation)
    /// The order in which null is less than everything else, for string properties of the base class.
    case nullFirst(Relation)
    /// The rules of IEEE 754: NaN is unequal to everything and unordered.
    case ieee(Relation)
    /// `==[c]`: strings and binary data are compared without letter case.
    case equalIgnoringCase
    /// `!=[c]`: the negation of equality without letter case.
    case notEqualIgnoringCase
    /// A string operator whose pattern may differ from row to row.
    case pattern(TextOperator)
    /// A string operator whose pattern is known. `isBinary` is whether the pattern is binary data,
    /// which matches only binary data.
    case prepared(TextPattern, isBinary: Bool)
    /// Equality of two results of `@type`: the sets of types have one in common.
    case sharesType
    /// Inequality of two results of `@type`: the sets of types have none in common.
    case sharesNoType
    /// Equality of a link property and a mixed value, which holds only between two nulls.
    case bothNull
    /// Inequality of a link property and a mixed value, which holds unless both are null.
    case notBothNull

    /// Returns whether two values compare as wanted.
    ///
    /// - Parameters:
    ///   - cancellation: The check that is called within long texts. When it asks to stop, the result is
    ///     meaningless, and the caller must call `requireGoingOn` or count another step.
    func holds(_ left: Value, _ right: Value, _ cancellation: CancellationCheck? = nil) -> Bool {
        switch self {
        case .relation(let comparison): return Comparator.relates(left, comparison, right)
        case .nullFirst(let comparison): return comparison.holds(Value.order(left, right), 0)
        case .ieee(let comparison): return Comparator.relatesByIEEE(left, comparison, right)
        case .equalIgnoringCase: return Comparator.isEqualIgnoringCase(left, right)
        case .notEqualIgnoringCase: return !Comparator.isEqualIgnoringCase(left, right)
        case .pattern(let pattern): return pattern.holds(left, right, cancellation)
        case .prepared(let pattern, let isBinary):
            switch left {
            case .string(let text): return !isBinary && pattern.matches(text, cancellation)
            case .binary(let text): return isBinary && pattern.matches(text, cancellation)
            default: return false
            }
        case .sharesType: return left.typeBits & right.typeBits != 0
        case .bothNull: return left.isNull && right.isNull
        case .notBothNull: return !(left.isNull && right.isNull)
        case .sharesNoType: return left.typeBits & right.typeBits == 0
        }
    }

    /// Returns the same comparison with a constant on its right side, for which a pattern is prepared once.
    func prepared(for constant: Value) -> Comparator {
        guard case .pattern(let text) = self else { return self }
        switch constant {
        case .string(let pattern):
            return .prepared(TextPattern(text.kind.prepared, pattern, ignoringCase: text.ignoresCase), isBinary: false)
        case .binary(let pattern):
            return .prepared(TextPattern(text.kind.prepared, pattern, ignoringCase: text.ignoresCase), isBinary: true)
        default: return self
        }
    }

    /// Whether the comparison asks for an order, so that comparing the extremes of two lists is enough.
    var isOrdering: Bool {
        guard case .relation(let comparison) = self else { return false }
        return comparison.isOrdering
    }

    /// The result of comparing a mixed value with a constant of another type, if it is always the same; nil otherwise. Numbers
    /// count as one type. A prepared pattern is compared with texts if it is one, and with binary data if it is that.
    var outcomeForOtherTypes: Bool? {
        switch self {
        case .relation(let relation): return relation == .notEqual
        case .equalIgnoringCase, .prepared: return false
        case .notEqualIgnoringCase: return true
        default: return nil
        }
    }

    /// The comparison with its sides exchanged, if it is a relation of values; nil otherwise.
    var mirrored: Comparator? {
        switch self {
        case .relation(let relation): return .relation(relation.mirrored)
        case .ieee(let relation): return .ieee(relation.mirrored)
        default: return nil
        }
    }

    /// Whether two lists of different lengths match when they are compared element by element: only for inequality.
    var acceptsDifferentLengths: Bool {
        switch self {
        case .relation(.notEqual), .ieee(.notEqual), .notEqualIgnoringCase, .notBothNull: return true
        default: return false
        }
    }

    /// Returns whether a relation holds by the order of values, in which null equals only null, and NaN of any type is
    /// neither less nor greater than anything.
    private static func relates(_ left: Value, _ comparison: Relation, _ right: Value) -> Bool {
        if left.isNull || right.isNull {
            let isEqual = left.isNull && right.isNull
            return isEqual ? comparison.includesEqual : comparison == .notEqual
        }
        guard Value.areComparable(left, right) else { return comparison == .notEqual }
        if comparison.isOrdering, left.isNaN || right.isNaN { return false }
        return comparison.holds(Value.order(left, right), 0)
    }

    /// Returns whether a relation holds between two floats or two doubles by IEEE 754, and between other values by their order.
    private static func relatesByIEEE(_ left: Value, _ comparison: Relation, _ right: Value) -> Bool {
        switch (left, right) {
        case (.float(let a), .float(let b)): return comparison.holds(a, b)
        case (.double(let a), .double(let b)): return comparison.holds(a, b)
        default: return relates(left, comparison, right)
        }
    }

    /// Returns whether two values are equal when letter case is ignored, which has an effect on strings and binary data only.
    private static func isEqualIgnoringCase(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)), (.binary(let a), .binary(let b)):
            return TextMatching.isEqual(a, b, ignoringCase: true)
        default: return relates(left, .equal, right)
        }
    }
}

extension Value {
    /// The bits of a set of types, as operands for `@type` yield them.
    fileprivate var typeBits: Int64 {
        if case .int(let bits) = self { return bits }
        return 0
    }
}
