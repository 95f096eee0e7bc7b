// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares the elements of a list or set of the base class with one constant: one of them, all or none has to fulfil the comparison.
///
/// The elements are read in place. Links are not elements in this sense; they are followed by `LinkedCondition`.
final class ElementsCondition: Condition {
    private let column: Column
    private let quantifier: Quantifier
    private let test: ElementTest
    private let label: String
    private let cancellation: CancellationCheck
    /// The test of integers that decides; nil where elements are no integers, or may be null.
    private let integers: IntegerTest?
    /// The text that decides if one of the elements has it; nil where that is another comparison.
    private let wanted: CellText?
    /// Excludes most collections in which no element decides; nil where an element decides that lacks the pattern, or is no text.
    private let filter: PairFilter?

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - column: The list or set of values that are not links.
    ///   - quantifier: The number of elements that have to fulfil the comparison.
    ///   - test: The comparison.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(_ column: Column, _ quantifier: Quantifier, _ test: ElementTest, label: String, _ cancellation: CancellationCheck) {
        self.column = column
        self.quantifier = quantifier
        self.test = test
        self.label = label
        self.cancellation = cancellation
        integers = column.type == .int && !column.isNullable ? test.integers(quantifier != .all) : nil
        wanted = test.wantedText.map { CellText($0) }
        let pattern = quantifier == .all ? nil : test.textPattern
        filter = pattern.flatMap { $0.isNegated ? nil : $0.pattern.filter }
    }

    var cost: Double { 40 }
    var outline: ConditionOutline { ConditionOutline("elements in place", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        try cancellation.step(candidates.count)
        let lists = try LeafCollections(column, of: leaf)
        if let integers {
            return try settle(try lists.integers(integers, among: candidates), candidates, lists)
        }
        guard column.type == .string else {
            return try candidates.filter { row throws(StorageError) in try holds(lists, row) }
        }
        if let wanted, quantifier != .all { return try settle(try lists.texts(wanted, among: candidates), candidates, lists) }
        if let filter {
            let others = try lists.texts(filter, among: candidates)
            let found = try evaluateTexts(others, lists)
            return quantifier == .any ? found : candidates.subtracting(others) | found
        }
        return try evaluateTexts(candidates, lists)
    }

    /// Returns the candidates that fulfil the condition.
    ///
    /// - Parameters:
    ///   - outcome: Which of them have an element that decides, and of which it is not known.
    ///   - candidates: The rows to test.
    private func settle(
        _ outcome: LeafCollections.Outcome, _ candidates: Mask, _ lists: LeafCollections
    ) throws(StorageError) -> Mask {
        let known = quantifier == .any ? outcome.found : candidates.subtracting(outcome.found | outcome.others)
        guard !outcome.others.isEmpty else { return known }
        return known | (try outcome.others.filter { row throws(StorageError) in try holds(lists, row) })
    }

    /// Tests texts of the collections of some rows together.
    private func evaluateTexts(_ rows: Mask, _ lists: LeafCollections) throws(StorageError) -> Mask {
        guard let pattern = test.textPattern else {
            return try rows.filter { row throws(StorageError) in try holds(lists, row) }
        }
        var texts = TextBatch()
        return try texts.evaluate(rows, quantifier, pattern, cancellation: cancellation) { row throws(StorageError) in
            let root = try lists.root(row)
            return try root.isNone ? nil : StringLeaf(ofShortList: root, lists.space)
        } otherwise: { row throws(StorageError) in
            try holds(lists, row)
        }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try holds(try LeafCollections(column, of: row.leaf), row.index)
    }

    /// Returns whether the collection of a row fulfils the condition.
    ///
    /// `ALL` is decided by an element that does not fulfil the comparison, the others by one that does.
    private func holds(_ lists: LeafCollections, _ row: Int) throws(StorageError) -> Bool {
        let root = try lists.root(row)
        guard !root.isNone else { return quantifier != .any }
        let isFound = try has(quantifier != .all, root, lists.space)
        return isFound == (quantifier == .any)
    }

    /// Returns whether a collection has an element for which the comparison has the outcome `wanted`.
    private func has(_ wanted: Bool, _ root: Ref, _ space: NodeSpace) throws(StorageError) -> Bool {
        switch column.type {
        case .int:
            if let leaf = try IntLeaf(ofShortList: root, space, isNullable: column.isNullable) {
                try cancellation.step(1 + leaf.count / 8)
                return test.has(wanted, in: leaf)
            }
        case .string:
            if let leaf = try StringLeaf(ofShortList: root, space) { return try test.has(wanted, in: leaf, cancellation) }
        default:
            if let leaf = try ColumnLeaf(ofShortList: root, space, column.elementShape) {
                return try test.has(wanted, in: leaf, cancellation)
            }
        }
        var elements = try ListView(root: root, space: space, shape: column.elementShape).elements()
        while let element = try elements.next() {
            if try test.holds(element, cancellation) == wanted { return true }
        }
        return false
    }
}
