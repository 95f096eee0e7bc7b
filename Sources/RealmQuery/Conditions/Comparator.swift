// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How two single values are compared.
enum Comparator {
    /// Equality and order: null equals null only, values that cannot be compared are unequal and unordered.
    case relation(Relation)
    /// The order in which null is less than everything, for strings.
    case nullFirst(Relation)
    /// The rules of IEEE 754: NaN is unequal to everything and unordered.
    case ieee(Relation)
    case equalIgnoringCase
    case notEqualIgnoringCase
    case pattern(TextOperator)
    /// A string operator whose pattern is known; the flag tells whether it is binary data.
    case prepared(TextPattern, isBinary: Bool)
    /// Whether two sets of types have a type in common.
    case sharesType
    case sharesNoType
    /// A link property and a mixed value: only two nulls are equal.
    case bothNull
    case notBothNull

    /// `cancellation` is asked within long texts: when it says no, the answer is worth nothing.
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

    /// The same comparison with a constant on its right side, prepared as far as possible.
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

    /// Does the comparison tell smaller from greater values?
    var isOrdering: Bool {
        guard case .relation(let comparison) = self else { return false }
        return comparison != .equal && comparison != .notEqual
    }

    /// Is unequal length of two lists that are compared element by element a match?
    var acceptsDifferentLengths: Bool {
        switch self {
        case .relation(.notEqual), .notEqualIgnoringCase, .notBothNull: return true
        default: return false
        }
    }

    /// A relation by the order of values, in which null equals null only.
    private static func relates(_ left: Value, _ comparison: Relation, _ right: Value) -> Bool {
        if left.isNull || right.isNull {
            let isEqual = left.isNull && right.isNull
            return isEqual ? comparison.includesEqual : comparison == .notEqual
        }
        guard Value.areComparable(left, right) else { return comparison == .notEqual }
        return comparison.holds(Value.order(left, right), 0)
    }

    /// A relation between two floats or two doubles by IEEE 754, between others by the order of values.
    private static func relatesByIEEE(_ left: Value, _ comparison: Relation, _ right: Value) -> Bool {
        switch (left, right) {
        case (.float(let a), .float(let b)): return comparison.holds(a, b)
        case (.double(let a), .double(let b)): return comparison.holds(a, b)
        default: return relates(left, comparison, right)
        }
    }

    /// Equality without letter case, which only strings and binary data have.
    private static func isEqualIgnoringCase(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)), (.binary(let a), .binary(let b)):
            return TextMatching.isEqual(a, b, ignoringCase: true)
        default: return relates(left, .equal, right)
        }
    }
}

extension Value {
    /// The bits of a type set, as `@type` operands yield them.
    fileprivate var typeBits: Int64 {
        if case .int(let bits) = self { return bits }
        return 0
    }
}
