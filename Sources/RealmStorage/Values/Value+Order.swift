// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The total order of all values, by which sorts, sets and indexes order them.
///
/// null < bool < numbers < string < binary < timestamp < objectId < uuid < link < list < dictionary
///
/// Numbers of all types are ordered by value: int with float or double exactly, float with double widened, and anything with
/// decimal in decimal, where a double counts with 15 significant digits and a float with 7. Because of that rounding, equality
/// of numbers is not transitive: float 0.1 and double 0.1 both equal decimal 0.1 and differ from each other. Links are ordered
/// by table key, then object key. All lists are equal, and so are all dictionaries. Source: docs/format.md, "Sets".
extension Value {
    /// Returns a negative number, zero or a positive number when `left` sorts before, with or after `right`.
    @inlinable package static func order(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.int(let left), .int(let right)): return NumberOrder.compare(left, right)
        case (.string(let left), .string(let right)): return left.compare(right)
        case (.double(let left), .double(let right)): return NumberOrder.compare(left, right)
        case (.timestamp(let left), .timestamp(let right)): return left < right ? -1 : right < left ? 1 : 0
        case (.objectID(let left), .objectID(let right)): return left < right ? -1 : right < left ? 1 : 0
        case (.uuid(let left), .uuid(let right)): return left < right ? -1 : right < left ? 1 : 0
        case (.bool(let left), .bool(let right)): return left == right ? 0 : left ? 1 : -1
        case (.float(let left), .float(let right)): return NumberOrder.compare(left, right)
        case (.decimal(let left), .decimal(let right)): return left.compare(right)
        case (.binary(let left), .binary(let right)): return left.compare(right)
        case (.link(let table, let key), .link(let otherTable, let otherKey)):
            if table != otherTable { return table < otherTable ? -1 : 1 }
            return key < otherKey ? -1 : otherKey < key ? 1 : 0
        default: return orderAcrossTypes(left, right)
        }
    }

    /// Returns the order of two values like `order`, but compares decimals with floats and doubles exactly.
    ///
    /// The order is transitive, so pages can continue in it, and sorting does not depend on the order before.
    package static func exactOrder(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.decimal(let left), .double(let right)): return left.compare(Decimal128(nearest: right))
        case (.double(let left), .decimal(let right)): return Decimal128(nearest: left).compare(right)
        case (.decimal(let left), .float(let right)): return left.compare(Decimal128(nearest: Double(right)))
        case (.float(let left), .decimal(let right)): return Decimal128(nearest: Double(left)).compare(right)
        default: return order(left, right)
        }
    }

    /// Returns whether a query can compare two values: they have the same type, or both are
    /// numbers. Null is not comparable with anything.
    @inlinable package static func areComparable(_ left: Value, _ right: Value) -> Bool {
        left.typeRank == right.typeRank && !left.isNull
    }

    /// Returns whether two values are equal in the sense of `==` in a query: two nulls, or comparable values that sort alike.
    @inlinable package static func areEqual(_ left: Value, _ right: Value) -> Bool {
        left.typeRank == right.typeRank && order(left, right) == 0
    }

    /// Returns the order of two members of a set of decimals, where null is not first: it is one of
    /// the NaNs and sorts among them by its bits.
    ///
    /// Sets in files have this order, so it must not change.
    package static func decimalSetOrder(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.null, .decimal(let number)): return Decimal128.null.compare(number)
        case (.decimal(let number), .null): return number.compare(.null)
        default: return order(left, right)
        }
    }

    /// The rank of the value's type in the total order; the same for all numbers.
    @inlinable package var typeRank: Int {
        switch self {
        case .null: return 0
        case .bool: return 1
        case .int, .float, .double, .decimal: return 2
        case .string: return 3
        case .binary: return 4
        case .timestamp: return 5
        case .objectID: return 6
        case .uuid: return 7
        case .link: return 8
        case .list: return 9
        case .dictionary: return 10
        }
    }

    /// Whether this is a number of any type.
    @inlinable package var isNumber: Bool { typeRank == 2 }

    /// Returns the order of two values of different types.
    @usableFromInline static func orderAcrossTypes(_ left: Value, _ right: Value) -> Int {
        let rank = left.typeRank
        let otherRank = right.typeRank
        return rank != otherRank ? rank - otherRank : orderNumbers(left, right)
    }

    /// Returns the order of two numbers of different types; other values of one rank are equal.
    private static func orderNumbers(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.int(let left), .double(let right)): return NumberOrder.compare(left, right)
        case (.double(let left), .int(let right)): return -NumberOrder.compare(right, left)
        case (.int(let left), .float(let right)): return NumberOrder.compare(left, Double(right))
        case (.float(let left), .int(let right)): return -NumberOrder.compare(right, Double(left))
        case (.float(let left), .double(let right)): return NumberOrder.compare(Double(left), right)
        case (.double(let left), .float(let right)): return NumberOrder.compare(left, Double(right))
        default:
            guard let left = left.asDecimal, let right = right.asDecimal else { return 0 }
            return left.compare(right)
        }
    }

    /// The number in the form in which it is compared with decimals; nil for other values.
    package var asDecimal: Decimal128? {
        switch self {
        case .int(let number): return Decimal128(number)
        case .float(let number): return Decimal128(number)
        case .double(let number): return Decimal128(number)
        case .decimal(let number): return number
        default: return nil
        }
    }
}

// MARK: - Hashing

/// Hashing by the total order: values that are equal in it have the same hash, with one exception.
extension Value {
    /// Feeds a hash that is the same for values that sort alike: that of 1, 1.0 and decimal 1 is one.
    ///
    /// One pair is an exception, because rounding to 7 digits would leave almost nothing of the hash: a float hashes as the
    /// double that it widens to, so a float and the decimal that it equals may have different hashes. Code that finds both
    /// types in one column has to find equal values by sorting.
    package func hashByOrder(into hasher: inout Hasher) {
        hasher.combine(UInt8(truncatingIfNeeded: typeRank))
        switch self {
        case .null, .list, .dictionary: break
        case .bool(let value): hasher.combine(value)
        case .int(let number): Value.hash(number, into: &hasher)
        case .float(let number): Value.hash(Double(number), into: &hasher)
        case .double(let number): Value.hash(number, into: &hasher)
        case .decimal(let number): number.hashNumerically(into: &hasher)
        case .string(let bytes), .binary(let bytes): bytes.hash(into: &hasher)
        case .timestamp(let date): date.hash(into: &hasher)
        case .objectID(let id): id.hash(into: &hasher)
        case .uuid(let id): id.hash(into: &hasher)
        case .link(let table, let key):
            table.hash(into: &hasher)
            key.hash(into: &hasher)
        }
    }

    /// Feeds the hash of an integer, which is that of an equal double.
    private static func hash(_ number: Int64, into hasher: inout Hasher) {
        guard number.magnitude < Decimal128.hashedWholeNumberLimit else {
            return Decimal128(number).hashNumerically(into: &hasher)
        }
        hasher.combine(number)
    }

    /// Feeds the hash of a double, which is that of an equal integer or decimal.
    private static func hash(_ number: Double, into hasher: inout Hasher) {
        if number.magnitude < Double(Decimal128.hashedWholeNumberLimit), number.rounded(.towardZero) == number {
            return hasher.combine(Int64(number))
        }
        Decimal128(number).hashNumerically(into: &hasher)
    }
}
