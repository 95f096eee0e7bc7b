// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A comparison of single values with a constant, with shorter ways for the commonest types.
struct ElementTest {
    /// The ways to compare.
    private enum Form {
        case int(Relation, Int64)
        /// A text with a prepared pattern; negated, all others match, null included.
        case text(TextPattern, isNegated: Bool)
        case values
    }

    private let comparator: Comparator
    private let constant: Value
    private let form: Form

    /// Prepares a comparison.
    ///
    /// - Parameters:
    ///   - comparator: The way in which they are compared with the constant.
    ///   - constant: The constant, whose bytes belong to the query's `ConstantPool`.
    init(_ type: ColumnType, _ comparator: Comparator, _ constant: Value) {
        self.comparator = comparator
        self.constant = constant
        switch (type, comparator, constant) {
        case (.int, .relation(let relation), .int(let number)): form = .int(relation, number)
        case (.string, .relation(.equal), .string(let text)):
            form = .text(TextPattern(.equal, text, ignoringCase: false), isNegated: false)
        case (.string, .relation(.notEqual), .string(let text)):
            form = .text(TextPattern(.equal, text, ignoringCase: false), isNegated: true)
        case (.string, .prepared(let pattern, isBinary: false), _): form = .text(pattern, isNegated: false)
        default: form = .values
        }
    }

    /// Returns whether a value fulfils the comparison; throws when the query has to stop.
    func holds(_ value: Value, _ cancellation: CancellationCheck) throws(StorageError) -> Bool {
        try cancellation.step(for: value, and: constant)
        let outcome = comparator.holds(value, constant, cancellation)
        try cancellation.requireGoingOn()
        return outcome
    }

    /// Returns whether one of the integers of a leaf has the outcome `wanted`.
    func has(_ wanted: Bool, in leaf: IntLeaf) -> Bool {
        guard case .int(let relation, let constant) = form else {
            return (0..<leaf.count).contains { comparator.holds(leaf.value($0), self.constant) == wanted }
        }
        // Null equals only null, and is ordered with nothing.
        switch relation {
        case .equal: return ElementTest.has(wanted, in: leaf, null: false) { $0 == constant }
        case .notEqual: return ElementTest.has(wanted, in: leaf, null: true) { $0 != constant }
        case .less: return ElementTest.has(wanted, in: leaf, null: false) { $0 < constant }
        case .lessOrEqual: return ElementTest.has(wanted, in: leaf, null: false) { $0 <= constant }
        case .greater: return ElementTest.has(wanted, in: leaf, null: false) { $0 > constant }
        case .greaterOrEqual: return ElementTest.has(wanted, in: leaf, null: false) { $0 >= constant }
        }
    }

    /// Returns whether a test of one of the integers of a leaf has the outcome `wanted`.
    @inline(__always)
    private static func has(_ wanted: Bool, in leaf: IntLeaf, null: Bool, _ test: (Int64) -> Bool) -> Bool {
        let elements = leaf.elements
        guard leaf.isNullable else {
            for row in 0..<leaf.count where test(elements[row]) == wanted { return true }
            return false
        }
        for row in 0..<leaf.count {
            let number = elements[row + 1]
            if (number == leaf.nullMarker ? null : test(number)) == wanted { return true }
        }
        return false
    }

    /// The text that is searched if the comparison is equality with a text; nil for all others.
    var wantedText: ByteView? {
        guard case .text = form, case .relation(.equal) = comparator, case .string(let text) = constant else { return nil }
        return text
    }

    /// The text that is searched among values of any type if the comparison is equality with a text; nil for all others.
    var wantedAmongValues: ByteView? {
        guard case .values = form, case .relation(.equal) = comparator, case .string(let text) = constant else { return nil }
        return text
    }

    /// Returns the test of integers by which one of them has an outcome; nil where they are compared by value.
    func integers(_ wanted: Bool) -> IntegerTest? {
        guard case .int(let relation, let constant) = form else { return nil }
        return IntegerTest(relation, constant, outcome: wanted)
    }

    /// The pattern by which texts are tested, and whether those match that it does not match; nil where texts are compared by value.
    var textPattern: (pattern: TextPattern, isNegated: Bool)? {
        guard case .text(let pattern, let isNegated) = form else { return nil }
        return (pattern, isNegated)
    }

    /// Returns whether one of the texts of a leaf has the outcome `wanted`; throws for damage, and when the query has to stop.
    func has(_ wanted: Bool, in leaf: StringLeaf, _ cancellation: CancellationCheck) throws(StorageError) -> Bool {
        for row in 0..<leaf.count where try holds(try leaf.string(row), cancellation) == wanted { return true }
        return false
    }

    /// Returns whether a text or null fulfils the comparison; throws when the query has to stop.
    func holds(_ text: ByteView?, _ cancellation: CancellationCheck) throws(StorageError) -> Bool {
        guard case .text(let pattern, let isNegated) = form else {
            return try holds(text.map(Value.string) ?? .null, cancellation)
        }
        guard let text else { return isNegated }
        try cancellation.step(1 &+ text.count &>> 8)
        let outcome = pattern.matches(text, cancellation) != isNegated
        try cancellation.requireGoingOn()
        return outcome
    }

    /// Returns whether one of the values of a leaf has the outcome `wanted`; throws for damage, and when the query has to stop.
    func has(_ wanted: Bool, in leaf: ColumnLeaf, _ cancellation: CancellationCheck) throws(StorageError) -> Bool {
        for row in 0..<leaf.count where try holds(try leaf.value(row), cancellation) == wanted { return true }
        return false
    }
}
