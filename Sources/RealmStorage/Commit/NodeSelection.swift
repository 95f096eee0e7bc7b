// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Decides which nodes below a root a `NodeWriter` writes.
protocol NodeSelection {
    /// Whether nodes that are not written have other places in the file that is written to.
    static var movesNodes: Bool { get }
    /// Whether selected nodes have refs that need all 64 bits, so that narrower nodes have none to
    /// them.
    static var hasWideRefs: Bool { get }
    /// Whether written nodes with refs are no wider than before.
    static var keepsWidths: Bool { get }

    /// Returns whether the node at a place is written; a node that is not has its whole tree in the
    /// file already.
    func isWritten(_ ref: UInt64) -> Bool

    /// Returns the element that takes the place of one that is not written: a tagged integer or none
    /// stays, a ref becomes that of the node in the file that is written to.
    func present(_ element: Int64) -> Int64
}

/// Selects the nodes of a transaction; committed nodes that they refer to stay where they are.
struct NewNodes: NodeSelection {
    static var movesNodes: Bool { false }
    static var hasWideRefs: Bool { true }
    static var keepsWidths: Bool { false }

    @inline(__always) func isWritten(_ ref: UInt64) -> Bool { ref >= NodeArena.firstRef }
    @inline(__always) func present(_ element: Int64) -> Int64 { element }
}

/// Selects all nodes, which are written to another file.
struct AllNodes: NodeSelection {
    static var movesNodes: Bool { false }
    static var hasWideRefs: Bool { false }
    static var keepsWidths: Bool { true }

    @inline(__always) func isWritten(_ ref: UInt64) -> Bool { true }
    @inline(__always) func present(_ element: Int64) -> Int64 { element }
}
