// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property of the base class against one constant: a whole leaf is tested at once where there is a kernel for it,
/// and otherwise value by value without leaving the leaf.
final class ColumnCondition: Condition {
    /// How a leaf is tested.
    private enum Kernel {
        case int(Relation, Int64?)
        case intReal(Relation, Double)
        case bool(Relation, Bool?)
        case float(Relation, Float?, RealOrder)
        case floatDouble(Relation, Double)
        case floatInt(Relation, Int64)
        case double(Relation, Double?, RealOrder)
        case doubleInt(Relation, Int64)
        case timestamp(Relation, Timestamp?)
        case link(Relation, ObjectKey?)
        /// The rows whose text matches, or those whose text does not, null included.
        case text(TextPattern, isNegated: Bool)
        case values
    }

    let column: Column
    let comparator: Comparator
    let constant: Value
    /// Made when it is first needed: a query that an index answers needs none.
    private lazy var kernel = ColumnCondition.kernel(column.type, comparator, constant)
    private let reader: ColumnReader
    private let label: String
    /// The incoming links of the object that the column is compared with, if they lead to all matches.
    let backlinks: BacklinkLookup?
    private var buffer: [Value] = []

    private let cancellation: CancellationCheck

    /// `label` is the part of the query that the condition stands for.
    init(
        _ column: Column, _ comparator: Comparator, _ constant: Value, backlinks: BacklinkLookup? = nil, label: String,
        _ cancellation: CancellationCheck
    ) {
        self.cancellation = cancellation
        self.backlinks = backlinks
        self.column = column
        self.comparator = comparator
        self.constant = constant
        self.label = label
        reader = ColumnReader(column)
    }

    var cost: Double {
        if isVectorised { return 1 }
        switch comparator {
        case .pattern, .prepared: return 15
        default: return column.type == .mixed || column.type == .decimal ? 20 : 8
        }
    }

    /// Is a leaf tested by a kernel for packed numbers?
    var isVectorised: Bool {
        switch kernel {
        case .values, .text: return false
        default: return true
        }
    }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let values = try reader.values(of: leaf)
        switch (kernel, values) {
        case (.int(let relation, let needle), .int(let leaf)): return candidates & leaf.compare(relation, needle)
        case (.intReal(let relation, let needle), .int(let leaf)):
            return candidates & leaf.compare(relation, real: needle)
        case (.bool(let relation, let needle), .bool(let leaf)): return candidates & leaf.compare(relation, needle)
        case (.float(let relation, let needle, let order), .float(let leaf)):
            return candidates & leaf.compare(relation, needle, order: order)
        case (.floatDouble(let relation, let needle), .float(let leaf)):
            return candidates & leaf.compare(relation, double: needle)
        case (.floatInt(let relation, let needle), .float(let leaf)):
            return candidates & leaf.compare(relation, integer: needle)
        case (.double(let relation, let needle, let order), .double(let leaf)):
            return candidates & leaf.compare(relation, needle, order: order)
        case (.doubleInt(let relation, let needle), .double(let leaf)):
            return candidates & leaf.compare(relation, integer: needle)
        case (.timestamp(let relation, let needle), .timestamp(let leaf)):
            return candidates & leaf.compare(relation, needle)
        case (.link(let relation, let key), .link(let leaf)):
            let found = key.map { leaf.isEqual(to: $0) } ?? leaf.nulls()
            return relation == .notEqual ? candidates.subtracting(found) : candidates & found
        case (.text(let pattern, let isNegated), .string(let leaf)):
            let found = try pattern.rows(of: leaf, among: candidates, cancellation)
            return isNegated ? candidates.subtracting(found) : found
        default: return try evaluateByValue(values, candidates)
        }
    }

    /// The rows that match, value by value: for types and comparisons without a kernel.
    private func evaluateByValue(_ values: ColumnLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        buffer.removeAll(keepingCapacity: true)
        try values.append(candidates, to: &buffer)
        var found = Mask.none
        var index = 0
        try candidates.forEach { row throws(StorageError) in
            try cancellation.step(for: buffer[index])
            if comparator.holds(buffer[index], constant, cancellation) { found[row] = true }
            index += 1
        }
        return found
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        let value = try reader.value(row)
        try cancellation.step(for: value)
        return comparator.holds(value, constant, cancellation)
    }

    /// Whether the condition is `column == constant`, so that an index may answer it.
    var isEquality: Bool {
        if case .relation(.equal) = comparator { return true }
        return false
    }

    var outline: ConditionOutline {
        ConditionOutline(isVectorised ? "compare packed column" : "compare column", label: label)
    }

    /// The fastest test of a leaf for a column type, a comparison and a constant.
    private static func kernel(_ type: ColumnType, _ comparator: Comparator, _ constant: Value) -> Kernel {
        let relation: Relation
        var order = RealOrder.general
        switch comparator {
        case .relation(let given): relation = given
        case .ieee(let given): (relation, order) = (given, .ieee)
        default: return textKernel(type, comparator, constant)
        }
        switch (type, constant) {
        case (.int, .null): return .int(relation, nil)
        case (.int, .int(let number)): return .int(relation, number)
        case (.int, .double(let number)): return .intReal(relation, number)
        case (.int, .float(let number)): return .intReal(relation, Double(number))
        case (.bool, .null): return .bool(relation, nil)
        case (.bool, .bool(let bool)): return .bool(relation, bool)
        case (.float, .null): return .float(relation, nil, order)
        case (.float, .float(let number)): return .float(relation, number, order)
        case (.float, .double(let number)): return .floatDouble(relation, number)
        case (.float, .int(let number)): return .floatInt(relation, number)
        case (.double, .null): return .double(relation, nil, order)
        case (.double, .double(let number)): return .double(relation, number, order)
        case (.double, .float(let number)): return .double(relation, Double(number), .general)
        case (.double, .int(let number)): return .doubleInt(relation, number)
        case (.timestamp, .null): return .timestamp(relation, nil)
        case (.timestamp, .timestamp(let date)): return .timestamp(relation, date)
        case (.link, .null) where relation == .equal || relation == .notEqual: return .link(relation, nil)
        case (.link, .link(_, let key)) where relation == .equal || relation == .notEqual: return .link(relation, key)
        default: return textKernel(type, comparator, constant)
        }
    }

    /// The test for strings; value by value for all the rest.
    private static func textKernel(_ type: ColumnType, _ comparator: Comparator, _ constant: Value) -> Kernel {
        guard type == .string, case .string(let text) = constant else { return .values }
        switch comparator {
        case .relation(.equal): return .text(TextPattern(.equal, text, ignoringCase: false), isNegated: false)
        case .relation(.notEqual): return .text(TextPattern(.equal, text, ignoringCase: false), isNegated: true)
        case .equalIgnoringCase: return .text(TextPattern(.equal, text, ignoringCase: true), isNegated: false)
        case .notEqualIgnoringCase: return .text(TextPattern(.equal, text, ignoringCase: true), isNegated: true)
        case .prepared(let pattern, isBinary: false): return .text(pattern, isNegated: false)
        default: return .values
        }
    }
}
