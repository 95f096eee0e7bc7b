// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Folds values into a minimum, a maximum, a sum or an average, by the rules of the query language.
///
/// Nulls and NaNs are left out, integer sums wrap around at 64 bits, and mixed values are summed up as decimals. A value of
/// this type is used for one fold: create it, add the values one by one, then read the result.
struct Aggregation: Sendable {
    private let aggregate: AggregateOperator
    private let type: ColumnType
    /// The least or greatest value so far; nil before the first one.
    private var extreme: Value?
    private var intSum: Int64 = 0
    private var doubleSum = 0.0
    private var decimalSum = Decimal128.zero
    /// The number of values that were added up, for the average.
    private var count = 0

    /// Starts a fold.
    ///
    /// - Parameters:
    ///   - aggregate: The way in which the values are combined.
    ///   - type: The type of the property, or of the elements of the collection.
    init(_ aggregate: AggregateOperator, of type: ColumnType) {
        self.aggregate = aggregate
        self.type = type
    }

    /// Returns whether values of a type can be combined in this way.
    ///
    /// - Parameters:
    ///   - aggregate: The way in which the values are combined.
    ///   - type: The type of the property or of the elements.
    ///   - ofLinkedObjects: Whether the values are those of a property of linked objects. Only
    ///     there timestamps have a minimum and a maximum.
    static func supports(_ aggregate: AggregateOperator, _ type: ColumnType, ofLinkedObjects: Bool) -> Bool {
        switch type {
        case .int, .float, .double, .decimal, .mixed: return true
        case .timestamp: return ofLinkedObjects && (aggregate == .min || aggregate == .max)
        default: return false
        }
    }

    /// The type of the result: that of the values for extremes, and otherwise int, double or decimal.
    static func resultType(_ aggregate: AggregateOperator, _ type: ColumnType) -> OperandType {
        switch (aggregate, type) {
        case (.min, _), (.max, _): return OperandType(type)
        case (.sum, .int): return .int
        case (_, .decimal), (_, .mixed): return .decimal
        default: return .double
        }
    }

    /// Adds one value to the fold. Values that do not count are ignored.
    mutating func add(_ value: Value) {
        switch aggregate {
        case .min, .max: addExtreme(value)
        case .sum, .average: addNumber(value)
        }
    }

    /// Adds the values of another fold of the same kind.
    mutating func merge(_ other: Aggregation) {
        if let extreme = other.extreme { addExtreme(extreme) }
        intSum &+= other.intSum
        doubleSum += other.doubleSum
        decimalSum += other.decimalSum
        count += other.count
    }

    /// Keeps the value if it is less, or greater, than all values before it. Nulls and NaNs are
    /// ignored, except that a float or double NaN among mixed values counts.
    private mutating func addExtreme(_ value: Value) {
        switch value {
        case .null: return
        case .float(let number) where number.isNaN && type != .mixed: return
        case .double(let number) where number.isNaN && type != .mixed: return
        case .decimal(let number) where number.isNaN: return
        default: break
        }
        guard let current = extreme else {
            extreme = value
            return
        }
        let order = Value.exactOrder(value, current)
        if aggregate == .min ? order < 0 : order > 0 { extreme = value }
    }

    /// Adds the value to the sums of its type. Nulls, NaNs and values that are not numbers are
    /// ignored; among mixed values only a decimal NaN is.
    private mutating func addNumber(_ value: Value) {
        switch (type, value) {
        case (.int, .int(let number)):
            intSum &+= number
            doubleSum += Double(number)
        case (.float, .float(let number)):
            guard !number.isNaN else { return }
            doubleSum += Double(number)
        case (.double, .double(let number)):
            guard !number.isNaN else { return }
            doubleSum += number
        default:
            guard let number = value.asDecimal else { return }
            if case .decimal = value, number.isNaN { return }
            decimalSum += number
        }
        count += 1
    }

    /// The result of the fold so far. Without any value a sum is 0 and all others are null.
    var result: Value {
        switch aggregate {
        case .min, .max: return extreme ?? .null
        case .sum:
            switch type {
            case .int: return .int(intSum)
            case .float, .double: return .double(doubleSum)
            default: return .decimal(decimalSum)
            }
        case .average:
            guard count > 0 else { return .null }
            switch type {
            case .int, .float, .double: return .double(doubleSum / Double(count))
            default: return .decimal(decimalSum / Decimal128(Int64(count)))
            }
        }
    }
}
