// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Compares subtrees of two versions, which may lie in two files.
///
/// A result of true is certain. False may also mean that equal values are laid out in another way, so
/// values are then compared one by one.
package struct SubtreeComparison {
    /// The greatest depth of nodes below a slot of a cluster leaf.
    private static let maximumDepth = 300

    /// The space of the earlier version.
    package let old: NodeSpace
    /// The space of the later version.
    package let new: NodeSpace
    /// Whether the same ref in both versions is the same subtree. That is so when one commit lies
    /// between them, because a commit writes to blocks only that are free in the version before.
    package let sharesNodes: Bool
    /// The number of nodes that may be visited in total.
    private let budget: WalkBudget

    /// Prepares a comparison.
    ///
    /// - Parameters:
    ///   - old: The space of the earlier version.
    ///   - new: The space of the later version.
    ///   - sharesNodes: Whether the same ref in both is the same subtree.
    package init(from old: NodeSpace, to new: NodeSpace, sharesNodes: Bool) {
        self.old = old
        self.new = new
        self.sharesNodes = sharesNodes
        budget = WalkBudget(new)
    }

    /// Returns whether two subtrees are certainly equal.
    ///
    /// - Throws: `.corrupt` for a node that cannot be read.
    package func areEqual(_ left: Ref, _ right: Ref) throws(StorageError) -> Bool {
        try areEqual(left, right, depth: 0)
    }

    /// Compares two nodes with all nodes below them.
    private func areEqual(_ left: Ref, _ right: Ref, depth: Int) throws(StorageError) -> Bool {
        if left.isNone || right.isNone { return left == right }
        if sharesNodes, left == right { return true }
        guard depth < SubtreeComparison.maximumDepth else {
            throw .corrupt(ref: right, reason: "nodes nested deeper than \(SubtreeComparison.maximumDepth)")
        }
        try budget.spend(at: right)
        let before = try old.node(at: left)
        let after = try new.node(at: right)
        guard before.hasRefs else {
            return before.flags == after.flags && before.count == after.count && before.bytes == after.bytes
        }
        guard after.hasRefs, before.isInner == after.isInner, before.hasContext == after.hasContext, before.count == after.count
        else { return false }
        for index in 0..<before.count {
            guard try areEqual(try before.slot(index), try after.slot(index), depth + 1) else { return false }
        }
        return true
    }

    /// Compares two slots with what they refer to.
    private func areEqual(_ left: Node.Slot, _ right: Node.Slot, _ depth: Int) throws(StorageError) -> Bool {
        guard case .ref(let before) = left, case .ref(let after) = right else { return left == right }
        return try areEqual(before, after, depth: depth)
    }
}
