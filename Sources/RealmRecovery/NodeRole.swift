// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The role of a node in a version.
struct NodeRole: Hashable {
    /// The distinguished kinds of nodes.
    enum Kind: UInt8 {
        /// The top node of a table.
        case table
        /// An inner node of a cluster tree.
        case cluster
        /// A leaf of a cluster tree.
        case leaf
        /// The keys of a leaf (slot 0), a column, or something below a column.
        case column
        /// Anything else.
        case other
    }

    let kind: Kind
    /// The key of the table; 0 for `other`.
    var table: UInt32 = 0
    /// The slot of the leaf that leads to the node.
    var slot = 0
    /// The number of nodes between the leaf and the node.
    var depth = 0
    /// The object whose value the node belongs to; nil where it belongs to several.
    var objectKey: Int64?

    /// Any node that has no rows.
    static let other = NodeRole(kind: .other)

    /// Returns whether two nodes are there for the same property of the same table, whatever the depth and the object are.
    func isAlike(_ role: NodeRole) -> Bool { kind == role.kind && table == role.table && slot == role.slot }
}
