// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The numbers of a leaf's node, for the kernels.
extension PackedReals {
    /// Views the elements of a node that was checked to hold numbers of this size. It borrows from
    /// the node.
    @inline(__always)
    init(_ node: Node) { unsafe self.init(payload: node.payload, count: node.count) }
}
