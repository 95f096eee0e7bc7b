// SPDX-License-Identifier: Apache-2.0

/// Decides which nodes below a root a `NodeWriter` writes.
protocol NodeSelection {
    /// Whether nodes that are not written have other places in the file that is written to.
    static var movesNodes: Bool { get }
    /// Whether selected nodes have refs that need all 64 bits, so that narrower nodes have none to them.
    static var hasWideRefs: Bool { get }
    /// Whether written nodes with refs are no wider than before.
    static var keepsWidths: Bool { get }

    /// Returns whether the node at a place is written; a node that is not has its whole tree in the file already.
    func isWritten(_ ref: UInt64) -> Bool

    /// Returns the element that takes the place of one that is not written: a tagged integer or none
    /// stays, a ref becomes that of the node in the file that is written to.
    func present(_ element: Int64) -> Int64
}
