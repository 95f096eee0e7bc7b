// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Folds values into a minimum, a maximum, a sum or an average, by the rules of the query language: nulls and NaNs are
/// left out, integer sums wrap around, mixed values are summed up as decimals.
struct Aggregation {
    private let aggregate: AggregateOperator
    private let type: ColumnType
    private var extreme: Value?
    private var intSum: Int64 = 0
    private var doubleSum = 0.0
    private var decimalSum = Decimal128.zero
    private var count = 0

    /// `type` is that of the property or of the elements.
    init(_ aggregate: AggregateOperator, of type: ColumnType) {
        self.aggregate = aggregate
        self.type = type
    }

    /// Can values of that type be aggregated so?
    static func supports(_ aggregate: AggregateOperator, _ type: ColumnType, ofLinkedObjects: Bool) -> Bool {
        switch type {
        case .int, .float, .double, .decimal, .mixed: return true
        case .timestamp: return ofLinkedObjects && (aggregate == .min || aggregate == .max)
        default: return false
        }
    }

    /// The type of the result.
    static func resultType(_ aggregate: AggregateOperator, _ type: ColumnType) -> OperandType {
        switch (aggregate, type) {
        case (.min, _), (.max, _): return OperandType(type)
        case (.sum, .int): return .int
        case (_, .decimal), (_, .mixed): return .decimal
        default: return .double
        }
    }

    /// Takes one value.
    mutating func add(_ value: Value) {
        switch aggregate {
        case .min, .max: addExtreme(value)
        case .sum, .average: addNumber(value)
        }
    }

    /// Keeps the value if it is less, or greater, than all before it. Nulls and NaNs count for nothing.
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
        let order = Value.order(value, current)
        if aggregate == .min ? order < 0 : order > 0 { extreme = value }
    }

    /// Adds the value to the sums of its kind. Nulls, NaNs and what is no number count for nothing.
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
