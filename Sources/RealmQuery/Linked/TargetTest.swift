// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests linked objects by a condition on their class.
///
/// At first each object is looked up and tested. When many were, the whole class is tested once, leaf by leaf, and the outcome is kept as a
/// bit for each object: that is far less work for each of them, and few queries ask for as many objects as a class has without asking for
/// most of them.
final class TargetTest {
    let condition: any Condition
    /// The class of the tested objects.
    let table: Table
    /// The result for dangling links.
    let missing: Bool
    /// Finds the objects, as long as they are tested one by one.
    private let finder: ObjectFinder
    /// The check that can stop the query.
    private let cancellation: CancellationCheck
    /// How many objects are still tested one by one.
    private var patience: Int
    /// The objects for which the outcome is not `missing`; nil while objects are tested one by one.
    private var others: KeySet?

    /// Four times the cost of looking an object up, in comparisons of packed integers: a query that has asked for as many objects as could
    /// be tested in a quarter of the time mostly asks for many more.
    private static let costOfLookup = 1024.0

    /// Creates a test.
    ///
    /// - Parameters:
    ///   - condition: A condition on the objects of `table`, used here alone.
    ///   - missing: The result for dangling links.
    ///   - cancellation: The check that can stop the query.
    init(_ condition: any Condition, on table: Table, missing: Bool, _ cancellation: CancellationCheck) {
        self.condition = condition
        self.table = table
        self.missing = missing
        self.cancellation = cancellation
        finder = ObjectFinder(table, cancellation)
        // Only the rule of a view decides which objects it hides, one by one.
        let costOfAll = Double(table.count) * (2 + condition.cost)
        patience = table.rule == nil ? 64 + Int(costOfAll / TargetTest.costOfLookup) : .max
    }

    /// About what a test costs, in comparisons of packed integers.
    var cost: Double { 4 + condition.cost / 8 }

    /// Returns whether an object fulfils the condition.
    ///
    /// - Parameter key: Its key; a negative one is that of no object.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop.
    @inline(__always) func holds(_ key: ObjectKey) throws(StorageError) -> Bool {
        if let outcome = knownOutcome(key) { return outcome }
        return try lookUp(key)
    }

    /// Prepares the test of so many objects, after which `knownOutcome` may know them.
    ///
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop.
    func expect(_ count: Int) throws(StorageError) {
        guard others == nil, patience < .max else { return }
        patience -= count
        if patience <= 0 { try testAll() }
    }

    /// Returns the outcome for an object if the whole class was tested; nil otherwise.
    @inline(__always) func knownOutcome(_ key: ObjectKey) -> Bool? {
        guard others != nil else { return nil }
        return (others?.contains(key) ?? false) != missing
    }

    private func lookUp(_ key: ObjectKey) throws(StorageError) -> Bool {
        try cancellation.step()
        guard let row = try finder.find(key) else { return missing }
        return try condition.matches(row)
    }

    /// Tests all objects of the class.
    private func testAll() throws(StorageError) {
        patience = .max
        guard let keys = try CompactKeys(of: table), cancellation.takesBits(keys.count) else { return }
        var found = KeySet(of: keys)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            try cancellation.step(64)
            let rows = leaf.allRows
            let matches = try condition.evaluate(leaf, rows)
            guard found.insert(missing ? rows.subtracting(matches) : matches, of: leaf) else { return }
        }
        others = found
    }
}
