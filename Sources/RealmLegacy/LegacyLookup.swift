// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of a tree at any position; neighbours are found without a search.
struct LegacyLookup {
    /// The root of the tree.
    private let root: Ref
    private let type: LegacyType
    /// Whether values may be null.
    private let isNullable: Bool
    /// The pass that reads, and what searches are spent from.
    private let reading: LegacyReading, budget: LegacyBudget?
    /// The leaf that was read last, and the position of its first value.
    private var present: (leaf: LegacyLeaf, start: Int)?

    /// Makes a look-up; no node is read yet.
    init(_ root: Ref, _ type: LegacyType, isNullable: Bool, _ reading: LegacyReading) {
        self.root = root
        self.type = type
        self.isNullable = isNullable
        self.reading = reading.unlimited
        budget = reading.budget
    }

    /// Returns the value at a position.
    ///
    /// - Throws: `.corrupt` when the tree does not have it.
    mutating func value(at position: Int64) throws(StorageError) -> Value {
        guard position >= 0, position < Int64(BPlusInnerNode.maximumCount) else { throw missing(position) }
        if let present, Int(position) >= present.start, Int(position) < present.start + present.leaf.count {
            return try present.leaf.value(Int(position) - present.start)
        }
        try budget?.spend(searchBelow: root)
        let (node, start) = try BPlusInnerNode.leafNode(for: Int(position), below: root, reading.space)
        let leaf = try LegacyLeaf(node, type, isNullable: isNullable, reading)
        present = (leaf, start)
        guard Int(position) >= start, Int(position) - start < leaf.count else { throw missing(position) }
        return try leaf.value(Int(position) - start)
    }

    /// Has the next value searched for anew, after pages were given back.
    mutating func renew() { present = nil }

    /// Makes the error for a position that the tree does not have.
    private func missing(_ position: Int64) -> StorageError {
        .corrupt(ref: root, reason: "there is no value \(position) in the tree")
    }
}
