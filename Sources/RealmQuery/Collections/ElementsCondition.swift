// SPDX-License-Identifier: Apache-2.0

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
    /// The texts of a leaf's collections, and whether they match; reused from leaf to leaf.
    private var texts = TextBatch()

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - column: The list or set of values that are not links.
    ///   - quantifier: How many of the elements have to fulfil the comparison.
    ///   - test: The comparison.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(_ column: Column, _ quantifier: Quantifier, _ test: ElementTest, label: String, _ cancellation: CancellationCheck) {
        self.column = column
        self.quantifier = quantifier
        self.test = test
        self.label = label
        self.cancellation = cancellation
    }

    var cost: Double { 40 }
    var outline: ConditionOutline { ConditionOutline("elements in place", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let roots = try leaf.attachRefs(column)
        if quantifier != .all, column.type == .string, let wanted = test.wantedText {
            return try candidates.filter { row throws(StorageError) in
                try cancellation.step()
                let root = try roots.optionalRef(row, "collection in column '\(column.name)'")
                guard !root.isNone, let has = try StringLeaf.shortList(root, leaf.space, has: wanted) else {
                    return try holds(roots, row, leaf.space)
                }
                return has == (quantifier == .any)
            }
        }
        if column.type == .string, let pattern = test.textPattern {
            return try texts.evaluate(candidates, quantifier, pattern, cancellation: cancellation) { row throws(StorageError) in
                let root = try roots.optionalRef(row, "collection in column '\(column.name)'")
                return try root.isNone ? nil : StringLeaf(ofShortList: root, leaf.space)
            } otherwise: { row throws(StorageError) in
                try holds(roots, row, leaf.space)
            }
        }
        return try candidates.filter { row throws(StorageError) in try holds(roots, row, leaf.space) }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try holds(try row.leaf.attachRefs(column), row.index, row.leaf.space)
    }

    /// Returns whether the collection of a row fulfils the condition.
    ///
    /// `ALL` is decided by an element that does not fulfil the comparison, the others by one that does.
    private func holds(_ roots: Node, _ row: Int, _ space: NodeSpace) throws(StorageError) -> Bool {
        let root = try roots.optionalRef(row, "collection in column '\(column.name)'")
        guard !root.isNone else { return quantifier != .any }
        let isFound = try has(quantifier != .all, root, space)
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
