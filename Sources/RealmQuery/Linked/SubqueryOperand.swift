// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `SUBQUERY(…).@count`: the number of objects at the end of a path that fulfil a condition. An
/// object that the path reaches several times counts each time.
final class SubqueryOperand: IntegerOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    /// Tests a linked object by the predicate of the subquery.
    private let test: TargetTest

    /// Creates the operand for the number of linked objects that fulfil a condition.
    ///
    /// - Parameters:
    ///   - chain: The path to the linked objects.
    ///   - test: The test of a linked object, used here alone.
    ///   - label: The text of the subquery.
    init(_ chain: LinkChain, _ test: TargetTest, label: String) {
        self.chain = chain
        self.test = test
        self.label = label
    }

    /// False: the result is one count, however many objects the path reaches.
    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the number of linked objects that fulfil the condition, as an int.
    func value(_ row: borrowing Row) throws(StorageError) -> Value { .int(try count(row)) }

    /// The number of objects that the path reaches from one object and that fulfil the condition.
    private func count(_ row: borrowing Row) throws(StorageError) -> Int64 {
        var count: Int64 = 0
        try chain.forEachKey(from: row) { key throws(StorageError) in
            try test.expect(1)
            if try test.holds(key) { count += 1 }
            return true
        }
        return count
    }

    /// Appends the numbers for the objects of a leaf, whose lists are attached once.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to integers: inout [Int64]) throws(StorageError) {
        guard let reader = chain.onlyStep, reader.step.kind == .list else {
            return try rows.forEach { row throws(StorageError) in integers.append(try count(Row(leaf: leaf, index: row))) }
        }
        try test.expect(rows.count)
        let roots = try leaf.attachRefs(reader.step.column)
        try rows.forEach { row throws(StorageError) in
            var count: Int64 = 0
            let root = try roots.optionalRef(row, "a collection of '\(reader.step.label)'")
            _ = try reader.forEachElement(at: root, in: leaf.space) { key throws(StorageError) in
                if try test.holds(key) { count += 1 }
                return true
            }
            try chain.cancellation?.step(1 &+ Int(truncatingIfNeeded: count))
            integers.append(count)
        }
    }
}
