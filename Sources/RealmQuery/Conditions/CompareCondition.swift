// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Compares two operands of which one at least may have several values, row by row, with all the rules for lists and
/// quantifiers.
final class CompareCondition: RowCondition {
    private let left: any Operand
    private let right: any Operand
    private let comparator: Comparator
    private let leftQuantifier: Quantifier?
    private let rightQuantifier: Quantifier?
    private let label: String
    /// The incoming links of the objects that links are compared with, if they lead to all matches.
    let backlinks: BacklinkLookup?
    private let cancellation: CancellationCheck
    private var leftGroups: ValueGroups
    private var rightGroups: ValueGroups

    /// `quantifier` replaces those of both operands.
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

    func matches(_ row: Row) throws(StorageError) -> Bool {
        defer {
            leftGroups.release()
            rightGroups.release()
        }
        try left.evaluate(row, into: &leftGroups)
        try right.evaluate(row, into: &rightGroups)
        for rightGroup in 0..<rightGroups.groupCount {
            for leftGroup in 0..<leftGroups.groupCount {
                if try compare(leftGroups.group(leftGroup), rightGroups.group(rightGroup)) { return true }
            }
        }
        return false
    }

    @inline(__always) private func holds(_ left: Value, _ right: Value) throws(StorageError) -> Bool {
        try cancellation.step(for: left, and: right)
        return comparator.holds(left, right, cancellation)
    }

    /// Whether two groups of values fulfil the comparison, with the quantifiers of both sides.
    private func compare(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        if leftGroups.isList, rightGroups.isList, leftQuantifier == nil, rightQuantifier == nil {
            return try compareElementwise(leftRange, rightRange)
        }
        if comparator.isOrdering, leftGroups.isList, rightGroups.isList, leftRange.count > 2, rightRange.count > 2 {
            return try compareExtremes(leftRange, rightRange)
        }
        if case .relation(.equal) = comparator, leftQuantifier ?? .any == .any, rightQuantifier ?? .any == .any,
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

    /// Longer lists are compared by their least and greatest values in the total order, which saves looking at all
    /// pairs; a null or a value of another type then counts only if it is one of these.
    private func compareExtremes(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        let left = try extremes(leftGroups.values[leftRange])
        let right = try extremes(rightGroups.values[rightRange])
        return try quantify(leftQuantifier, 0..<2) { leftIndex throws(StorageError) in
            try quantify(rightQuantifier, 0..<2) { rightIndex throws(StorageError) in
                try holds(leftIndex == 0 ? left.least : left.greatest, rightIndex == 0 ? right.least : right.greatest)
            }
        }
    }

    /// Up to so many values on each side all pairs are looked at.
    private static let comparedPairwise = 32

    /// Is any value on both sides? Sorts both, so that the time does not grow with the product of their lengths.
    private func haveCommonValue(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        let left = try cancellation.sorted(leftGroups.values[leftRange])
        let right = try cancellation.sorted(rightGroups.values[rightRange])
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

    /// The least and the greatest of some values, of which there is one at least.
    private func extremes(_ values: ArraySlice<Value>) throws(StorageError) -> (least: Value, greatest: Value) {
        var extremes = (least: values[values.startIndex], greatest: values[values.startIndex])
        for value in values.dropFirst() {
            try cancellation.step(for: value)
            if Value.order(value, extremes.least) < 0 { extremes.least = value }
            if Value.order(value, extremes.greatest) >= 0 { extremes.greatest = value }
        }
        return extremes
    }

    /// Whether two lists of the same length fulfil the comparison element by element.
    private func compareElementwise(_ leftRange: Range<Int>, _ rightRange: Range<Int>) throws(StorageError) -> Bool {
        guard leftRange.count == rightRange.count else { return comparator.acceptsDifferentLengths }
        for (left, right) in zip(leftRange, rightRange) where try !holds(leftGroups.values[left], rightGroups.values[right]) {
            return false
        }
        return true
    }

    /// `ANY` of nothing is false, `ALL` and `NONE` of nothing are true.
    private func quantify(
        _ quantifier: Quantifier?, _ range: Range<Int>, _ test: (Int) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let quantifier = quantifier ?? .any
        // What one element alone decides: that it fits, or that it does not.
        for index in range where try test(index) == (quantifier != .all) { return quantifier == .any }
        return quantifier != .any
    }
}
