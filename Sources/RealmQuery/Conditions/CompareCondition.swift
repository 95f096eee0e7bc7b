// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares two operands of which at least one may have several values, row by row, with all the
/// rules for lists and quantifiers.
///
/// Both operands are evaluated into groups, one for each collection that a path reaches. An object matches when the comparison
/// holds for a pair of groups. Within a pair, quantifiers apply; without any, two lists are compared element by element.
final class CompareCondition: RowCondition {
    private let left: any Operand
    private let right: any Operand
    private let comparator: Comparator
    private let leftQuantifier: Quantifier?
    private let rightQuantifier: Quantifier?
    private let label: String
    /// The incoming links of the objects with which links are compared, if they lead to all matches; nil otherwise.
    let backlinks: BacklinkLookup?
    private let cancellation: CancellationCheck
    /// The constants of a long list on the right side of an equality, by hash; nil where values are compared in pairs.
    private lazy var members = longList()
    /// The values of the left operand for the current object; the buffer is shared with the other comparisons of the query.
    private var leftGroups: ValueGroups
    /// The values of the right operand for the current object.
    private var rightGroups: ValueGroups

    /// Creates the condition that compares two operands with all the rules for lists.
    ///
    /// - Parameters:
    ///   - comparator: The way in which two values are compared.
    ///   - quantifier: Replaces the quantifiers of both operands if it is given.
    ///   - backlinks: The incoming links of the constants on the right side, if they are objects.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query, and that limits the values of one
    ///     object.
    init(
        _ left: any Operand, _ comparator: Comparator, _ right: any Operand, quantifier: Quantifier? = nil,
        backlinks: BacklinkLookup? = nil, label: String, _ cancellation: CancellationCheck
    ) {
        self.cancellation = cancellation
        leftGroups = ValueGroups(cancellation)
        rightGroups = ValueGroups(cancellation)
        self.backlinks = backlinks
        self.left = left
        self.right = right
        self.comparator = comparator
        leftQuantifier = quantifier ?? left.quantifier
        rightQuantifier = quantifier ?? right.quantifier
        self.label = label
    }

    var cost: Double { 200 }
    var outline: ConditionOutline { ConditionOutline("row by row", label: label) }

    /// Evaluates both operands for an object and compares every group of the left side with every group of the right side.
    func matches(_ row: Row) throws(StorageError) -> Bool {
        leftGroups = ValueGroups.take(cancellation)
        rightGroups = ValueGroups.take(cancellation)
        defer {
            leftGroups.giveBack()
            rightGroups.giveBack()
        }
        try left.evaluate(row, into: &leftGroups)
        if let members, leftQuantifier != nil || rightQuantifier != nil || !leftGroups.isList {
            return try isMember(of: members)
        }
        try right.evaluate(row, into: &rightGroups)
        for rightGroup in 0..<rightGroups.groupCount {
            for leftGroup in 0..<leftGroups.groupCount {
                if try compare(leftGroups.group(leftGroup), rightGroups.group(rightGroup)) { return true }
            }
        }
        return false
    }

    /// Compares two values, and counts the steps of the query that this takes, so that long texts can be cancelled.
    @inline(__always) private func holds(_ left: Value, _ right: Value) throws(StorageError) -> Bool {
        try cancellation.step(for: left, and: right)
        return comparator.holds(left, right, cancellation)
    }

    /// Returns whether two groups of values fulfil the comparison, with the quantifiers of both sides.
    ///
    /// - Parameters:
    ///   - leftRange: The places of the left group's values in its buffer.
    ///   - rightRange: The places of the right group's values in its buffer.
    private func compare(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        if leftGroups.isList, rightGroups.isList, leftQuantifier == nil, rightQuantifier == nil {
            return try compareElementwise(leftRange, rightRange)
        }
        if comparator.isOrdering, leftGroups.isList, rightGroups.isList, leftRange.count > 2, rightRange.count > 2,
            !leftGroups.values[leftRange].contains(where: \.isNaN), !rightGroups.values[rightRange].contains(where: \.isNaN)
        {
            return try compareExtremes(leftRange, rightRange)
        }
        if isEquality, leftQuantifier ?? .any == .any, rightQuantifier ?? .any == .any,
            leftRange.count > CompareCondition.comparedPairwise, rightRange.count > CompareCondition.comparedPairwise
        {
            return try haveCommonValue(leftRange, rightRange)
        }
        return try quantify(leftQuantifier, leftRange) { leftIndex throws(StorageError) in
            let leftValue = leftGroups.values[leftIndex]
            return try quantify(rightQuantifier, rightRange) { rightIndex throws(StorageError) in
                try holds(leftValue, rightGroups.values[rightIndex])
            }
        }
    }

    /// Compares longer lists by their least and greatest values in the total order, which spares comparing all pairs.
    ///
    /// A null, or a value of another type, then counts only if it is one of these extremes.
    private func compareExtremes(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        let left = try extremes(leftGroups.values[leftRange])
        let right = try extremes(rightGroups.values[rightRange])
        return try quantify(leftQuantifier, 0..<2) { leftIndex throws(StorageError) in
            try quantify(rightQuantifier, 0..<2) { rightIndex throws(StorageError) in
                try holds(leftIndex == 0 ? left.least : left.greatest, rightIndex == 0 ? right.least : right.greatest)
            }
        }
    }

    /// Makes the set of constants if the right side is a long list of them, any of which may equal a value.
    private func longList() -> ConstantSet? {
        guard let constants = (right as? ConstantOperand)?.values, constants.count > CompareCondition.comparedPairwise,
            rightQuantifier ?? .any == .any
        else { return nil }
        switch comparator {
        case .relation(.equal): return ConstantSet(constants, ignoringCase: false)
        case .ieee(.equal): return ConstantSet(constants.filter { !$0.isBinaryNaN }, ignoringCase: false)
        case .equalIgnoringCase: return ConstantSet(constants, ignoringCase: true)
        default: return nil
        }
    }

    /// Returns whether the values of one group on the left side are among the constants, as its quantifier demands.
    private func isMember(of constants: ConstantSet) throws(StorageError) -> Bool {
        for group in 0..<leftGroups.groupCount {
            let found = try quantify(leftQuantifier, leftGroups.group(group)) { index throws(StorageError) in
                try cancellation.step(for: leftGroups.values[index])
                return constants.contains(leftGroups.values[index])
            }
            if found { return true }
        }
        return false
    }

    /// Whether NaNs of floats and doubles equal nothing.
    private var isIEEE: Bool {
        if case .ieee = comparator { return true }
        return false
    }

    private var isEquality: Bool {
        switch comparator {
        case .relation(.equal), .ieee(.equal): return true
        default: return false
        }
    }

    /// The number of values on each side up to which all pairs are compared.
    private static let comparedPairwise = 32

    /// Returns whether any value is on both sides.
    ///
    /// Both sides are sorted first, so that the time does not grow with the product of their lengths.
    ///
    /// - Complexity: O(n log n) for n values on both sides together.
    private func haveCommonValue(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        let left = try sorted(leftGroups.values[leftRange])
        let right = try sorted(rightGroups.values[rightRange])
        var leftIndex = 0
        var rightIndex = 0
        while leftIndex < left.count, rightIndex < right.count {
            try cancellation.step(for: left[leftIndex], and: right[rightIndex])
            let order = Value.order(left[leftIndex], right[rightIndex])
            if order == 0 { return true }
            if order < 0 { leftIndex += 1 } else { rightIndex += 1 }
        }
        return false
    }

    /// Returns values in the total order, without those that equal nothing.
    private func sorted(_ values: ArraySlice<Value>) throws(StorageError) -> [Value] {
        guard isIEEE else { return try cancellation.sorted(values) }
        return try cancellation.sorted(values.lazy.filter { !$0.isBinaryNaN })
    }

    /// Returns the least and the greatest of at least one value, in the total order.
    private func extremes(_ values: ArraySlice<Value>) throws(StorageError) -> (least: Value, greatest: Value) {
        var extremes = (least: values[values.startIndex], greatest: values[values.startIndex])
        for value in values.dropFirst() {
            try cancellation.step(for: value)
            if Value.order(value, extremes.least) < 0 { extremes.least = value }
            if Value.order(value, extremes.greatest) >= 0 { extremes.greatest = value }
        }
        return extremes
    }

    /// Returns whether two lists fulfil the comparison at every position. Lists of different lengths match only for inequality.
    private func compareElementwise(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        guard leftRange.count == rightRange.count else { return comparator.acceptsDifferentLengths }
        for (left, right) in zip(leftRange, rightRange) where try !holds(leftGroups.values[left], rightGroups.values[right]) {
            return false
        }
        return true
    }

    /// Applies a quantifier to a test. `ANY` of nothing is false; `ALL` and `NONE` of nothing are true.
    ///
    /// - Parameters:
    ///   - quantifier: The quantifier; nil means `ANY`.
    ///   - range: The places of the values.
    ///   - test: Tests the value at a place. It is not called again once the result is known.
    private func quantify(
        _ quantifier: Quantifier?, _ range: Range<Int>, _ test: (Int) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let quantifier = quantifier ?? .any
        // One element alone may decide the result: for ANY and NONE if it fits, for ALL if it does not.
        for index in range where try test(index) == (quantifier != .all) { return quantifier == .any }
        return quantifier != .any
    }
}
