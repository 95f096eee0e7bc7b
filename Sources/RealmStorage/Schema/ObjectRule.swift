// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Chooses the objects of a table that a view of a version shows.
///
/// Which rows of a leaf are shown is found out for the whole leaf at once, and remembered for as long as the view exists:
/// links that are followed lead to the same leaves again and again.
package final class ObjectRule: Sendable {
    /// Finds the rows of a leaf that are shown. It is called under no lock, by several threads at the same time.
    package typealias Test = @Sendable (_ leaf: ClusterLeaf) throws(StorageError) -> Mask

    /// Returns whether an object of the whole version is shown. It is called like `Test`.
    package typealias SingleTest = @Sendable (_ row: Row) throws(StorageError) -> Bool

    /// The rule itself, for queries that make it a part of their condition; its type is known there.
    package let definition: any Sendable
    /// Finds the rows of a leaf of the whole version that are shown.
    private let test: Test
    /// Finds out about one object; nil where that takes no less than finding out about its leaf.
    private let single: SingleTest?
    /// The space of the whole version, in which the rule reads links that the view hides.
    private let space: NodeSpace
    /// The shown rows of the leaves that were asked for, by their refs.
    private let known = RankedMutex(.leaf, [Ref: Mask]())

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - definition: The rule in the terms of its maker.
    ///   - space: The space of the whole version, which outlives the rule.
    ///   - test: Finds the rows of a leaf, read in that space, that are shown.
    package init(_ definition: any Sendable, in space: NodeSpace, test: @escaping Test) {
        self.definition = definition
        self.space = space
        self.test = test
        single = nil
    }

    /// Makes a rule that tests each object separately, because objects of one leaf have nothing in common for it.
    ///
    /// - Parameters:
    ///   - definition: The rule in the terms of its maker.
    ///   - space: The space of the whole version, which outlives the rule.
    ///   - single: Finds out about an object, read in that space.
    init(_ definition: any Sendable, in space: NodeSpace, single: @escaping SingleTest) {
        self.definition = definition
        self.space = space
        self.single = single
        test = { leaf throws(StorageError) in
            try leaf.allRows.filter { row throws(StorageError) in try single(Row(leaf: leaf, index: row)) }
        }
    }

    /// Returns whether an object is shown.
    ///
    /// - Throws: Errors of the test, such as those of damaged files.
    /// - Complexity: O(1) for an object in a leaf that was asked for before.
    package func shows(_ row: Row) throws(StorageError) -> Bool {
        guard let single, known.withLock({ $0[row.leaf.node.ref] }) == nil else { return try shown(in: row.leaf)[row.index] }
        return try single(Row(leaf: row.leaf.read(in: space), index: row.index))
    }

    /// Returns the rows of a leaf that are shown.
    ///
    /// - Parameter leaf: A leaf of the table, in whatever space it is read.
    package func shown(in leaf: ClusterLeaf) throws(StorageError) -> Mask {
        let ref = leaf.node.ref
        if let mask = known.withLock({ $0[ref] }) { return mask }
        let mask = try test(leaf.read(in: space))
        known.withLock { $0[ref] = mask }
        return mask
    }
}
