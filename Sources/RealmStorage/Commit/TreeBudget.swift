// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The limits of a walk over trees of nodes: they have no more nodes and no more bytes than there is
/// room for in the space that they come from, unless they are circular.
struct TreeBudget {
    /// How many nodes may still be visited before the tree counts as circular.
    private var nodes: Int
    /// How many bytes may still be visited before the tree counts as circular.
    private var bytes: Int

    /// Makes limits from the size of a space.
    init(_ space: NodeSpace) {
        nodes = space.nodeBudget
        bytes = Int(clamping: space.nodeBudget.multipliedReportingOverflow(by: 8).partialValue)
    }

    /// Counts one node; throws `.corrupt` when there are too many.
    mutating func spend(_ node: Node) throws(StorageError) {
        nodes -= 1
        bytes -= node.byteCount
        guard nodes >= 0, bytes >= 0 else { throw node.corrupt("nodes refer to each other in a circle") }
    }
}
