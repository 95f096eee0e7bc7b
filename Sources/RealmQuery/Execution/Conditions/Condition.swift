// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// A bound predicate: tells for the rows of a cluster leaf, a mask at a time, which of them match.
///
/// Conditions keep what they read last, so a tree of them is used by one thread at a time.
class Condition {
    /// What testing one row costs, in comparisons of packed integers; cheap conditions are tested first.
    var cost: Double { 1 }

    /// The rows of `candidates` that match.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask { candidates }

    /// Does one row match?
    func matches(_ row: Row) throws(StorageError) -> Bool {
        var mask = Mask.none
        mask[row.index] = true
        return try !evaluate(row.leaf, mask).isEmpty
    }

    /// Is there an index that finds the objects that may match?
    var hasIndex: Bool { false }

    /// The keys of objects of `table` among which all matches are, ascending, each once. Nil without an index.
    func indexedKeys(_ table: Table) throws(StorageError) -> [ObjectKey]? { nil }

    /// The indexed column and the value of it that exactly the matches have, when the predicate says no more than that.
    var indexedEquality: (column: Column, value: Value)? { nil }

    /// Adds lines that show the plan, indented by `depth`.
    func explain(_ depth: Int, into lines: inout [String]) {}
}

/// A condition that looks at one row after another.
class RowCondition: Condition {
    override func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var found = Mask.none
        try candidates.forEach { row throws(StorageError) in
            if try matches(Row(leaf: leaf, index: row)) { found[row] = true }
        }
        return found
    }
}

extension [String] {
    mutating func appendPlan(_ depth: Int, _ line: String) { append(String(repeating: "  ", count: depth) + line) }
}
