// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares a property of the base class with one constant.
///
/// Where there is a kernel for the type and the relation, the packed array of a leaf is tested at
/// once. Otherwise the values of the candidates are tested one by one.
final class ColumnCondition: Condition {
    /// The ways to test a leaf. Each case holds the relation and the constant in the form that the
    /// kernel takes; a missing constant means null.
    private enum Kernel {
        case int(Relation, Int64?)
        case intReal(Relation, Double)
        case bool(Relation, Bool?)
        case float(Relation, Float?, RealOrder)
        case double(Relation, Double?, RealOrder)
        case timestamp(Relation, Timestamp?)
        case link(Relation, ObjectKey?)
        /// The rows whose text matches the pattern, or, when negated, all others, null included.
        case text(TextPattern, isNegated: Bool)
        /// There is no kernel for the type and the relation: the values are compared one by one.
        case values
    }

    /// The column of the property whose values are tested.
    let column: Column
    /// The way in which its values are compared with the constant.
    let comparator: Comparator
    /// The constant. Its bytes belong to the query's `ConstantPool`.
    let constant: Value
    /// The kernel, chosen when it is first needed: a query that an index answers needs none.
    private lazy var kernel = ColumnCondition.kernel(column.type, comparator, constant)
    private let reader: ColumnReader
    private let label: String
    /// The incoming links of the object with which a link property is compared, if they lead to all matches; nil otherwise.
    let backlinks: BacklinkLookup?
    /// The check that can stop the query within a leaf, as texts may be long.
    private let cancellation: CancellationCheck

    /// Creates the condition that compares a property with a constant.
    ///
    /// - Parameters:
    ///   - column: A property of the class that holds one value.
    ///   - comparator: The way in which its values are compared with the constant.
    ///   - constant: The right side of the comparison.
    ///   - backlinks: The incoming links of the constant, if it is an object.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
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
        reader = ColumnReader(column, cancellation)
    }

    /// 1 with a kernel, and more for texts, decimals and mixed values, whose comparisons take longer.
    var cost: Double {
        if isVectorised { return 1 }
        switch comparator {
        case .pattern, .prepared: return 15
        default: return column.type == .mixed || column.type == .decimal ? 20 : 8
        }
    }

    /// Whether a leaf is tested by a kernel for packed numbers. The cost and the plan depend on it.
    var isVectorised: Bool {
        switch kernel {
        case .values, .text: return false
        default: return true
        }
    }

    /// Tests the candidates with the kernel.
    ///
    /// Leaves of the most common types are attached as such, which takes less than leaves of any type do.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        switch (kernel, column.type) {
        case (.int(let relation, let needle), .int):
            return candidates & (try leaf.attachIntegers(column).compare(relation, needle))
        case (.double(let relation, let needle, let order), .double):
            return candidates & (try leaf.attachDoubles(column).compare(relation, needle, order: order))
        case (.text(let pattern, let isNegated), .string):
            let found = try pattern.rows(of: try leaf.attachStrings(column), among: candidates, cancellation)
            return isNegated ? candidates.subtracting(found) : found
        default: return try evaluate(try leaf.attach(column), candidates)
        }
    }

    /// Tests the candidates with the kernel, if the leaf has the type for which the kernel was chosen.
    private func evaluate(_ values: ColumnLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        switch (kernel, values) {
        case (.intReal(let relation, let needle), .int(let leaf)):
            return candidates & leaf.compare(relation, real: needle)
        case (.bool(let relation, let needle), .bool(let leaf)): return candidates & leaf.compare(relation, needle)
        case (.float(let relation, let needle, let order), .float(let leaf)):
            return candidates & leaf.compare(relation, needle, order: order)
        case (.timestamp(let relation, let needle), .timestamp(let leaf)):
            return candidates & leaf.compare(relation, needle)
        case (.link(let relation, let key), .link(let leaf)):
            let found = key.map { leaf.isEqual(to: $0) } ?? leaf.nulls()
            return relation == .notEqual ? candidates.subtracting(found) : candidates & found
        case (.values, .mixed(let leaf)), (.text, .mixed(let leaf)): return try evaluate(leaf, candidates)
        default: return try evaluateByValue(values, candidates)
        }
    }

    /// Tests mixed values. Only those of a type that can be compared with the constant are read, all others have the same outcome.
    private func evaluate(_ leaf: MixedLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        guard let outcome = comparator.outcomeForOtherTypes else {
            return try evaluateByValue(.mixed(leaf), candidates)
        }
        if case .text(let pattern, let isNegated) = kernel, let texts = try leaf.attachTexts() {
            let entries = try pattern.rows(of: texts, among: Mask(first: texts.count), cancellation)
            let found = leaf.rows(ofTexts: entries, among: candidates)
            return isNegated ? candidates.subtracting(found) : found
        }
        let payloads = try leaf.attachPayloads()
        if case .relation(let relation) = comparator, relation != .notEqual, case .int(let number) = constant,
            number.magnitude < 1 << 53
        {
            let (found, others) = leaf.compareNumbers(relation, number, among: candidates, payloads)
            guard !others.isEmpty else { return found }
            let rest = try self.found(others, leaf, payloads)
            return found | rest
        }
        let comparable = leaf.rows(ofRank: constant.typeRank, among: candidates)
        let found = try self.found(comparable, leaf, payloads)
        return outcome ? found | candidates.subtracting(comparable) : found
    }

    /// Tests mixed values one by one.
    private func found(_ rows: Mask, _ leaf: MixedLeaf, _ payloads: MixedLeaf.Payloads) throws(StorageError) -> Mask {
        try rows.filter { row throws(StorageError) in
            let value = try leaf.value(row, payloads)
            try cancellation.step(for: value)
            return comparator.holds(value, constant, cancellation)
        }
    }

    /// Tests the values of the candidates one by one, for types and relations without a kernel.
    private func evaluateByValue(_ values: ColumnLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var buffer: [Value] = []
        buffer.reserveCapacity(candidates.count)
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

    /// Chooses the fastest test of a leaf for a column type, a relation and a constant.
    private static func kernel(_ type: ColumnType, _ comparator: Comparator, _ constant: Value) -> Kernel {
        let relation: Relation
        var order = RealOrder.general
        switch comparator {
        case .relation(let given): (relation, order) = (given, given.isOrdering ? .ieee : .general)
        case .ieee(let given): (relation, order) = (given, .ieee)
        default: return textKernel(type, comparator, constant)
        }
        switch (type, constant) {
        case (.int, .null): return .int(relation, nil)
        case (.int, .int(let number)): return .int(relation, number)
        case (.int, .double(let number)) where !number.isNaN: return .intReal(relation, number)
        case (.int, .float(let number)) where !number.isNaN: return .intReal(relation, Double(number))
        case (.bool, .null): return .bool(relation, nil)
        case (.bool, .bool(let bool)): return .bool(relation, bool)
        case (.float, .null): return .float(relation, nil, order)
        case (.float, .float(let number)): return .float(relation, number, order)
        case (.float, .double(let number)) where !number.isNaN:
            return exactKernel(relation, ConvertedConstant<Float>(number)) { .float($0, $1, .ieee) }
        case (.float, .int(let number)):
            return exactKernel(relation, ConvertedConstant<Float>(number)) { .float($0, $1, .ieee) }
        case (.double, .null): return .double(relation, nil, order)
        case (.double, .double(let number)): return .double(relation, number, order)
        case (.double, .float(let number)) where !number.isNaN: return .double(relation, Double(number), .ieee)
        case (.double, .int(let number)):
            return exactKernel(relation, ConvertedConstant<Double>(number)) { .double($0, $1, .ieee) }
        case (.timestamp, .null): return .timestamp(relation, nil)
        case (.timestamp, .timestamp(let date)): return .timestamp(relation, date)
        case (.link, .null) where relation == .equal || relation == .notEqual: return .link(relation, nil)
        case (.link, .link(_, let key)) where relation == .equal || relation == .notEqual: return .link(relation, key)
        default: return textKernel(type, comparator, constant)
        }
    }

    /// Returns the test of reals by a constant that may fall between two of them. Where it decides nothing, the test is
    /// one that all numbers but NaN pass, or by value.
    private static func exactKernel<Real: BinaryFloatingPoint>(
        _ relation: Relation, _ needle: ConvertedConstant<Real>, _ make: (Relation, Real) -> Kernel
    ) -> Kernel {
        switch needle.comparison(relation) {
        case .with(let relation, let number): return make(relation, number)
        case .constant(true) where relation.isOrdering: return make(.lessOrEqual, .infinity)
        case .constant: return .values
        }
    }

    /// Chooses the test for string properties: a prepared pattern for equality and the string operators.
    ///
    /// For all other types, and for an order of strings, the values are compared one by one.
    private static func textKernel(_ type: ColumnType, _ comparator: Comparator, _ constant: Value) -> Kernel {
        guard type == .string || type == .mixed, case .string(let text) = constant else { return .values }
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
