// SPDX-License-Identifier: Apache-2.0

/// From nodes to runs of numbers.
extension PackedReals {
    /// The elements of a node that was checked to hold numbers of this size.
    @inline(__always)
    init(_ node: Node) { unsafe self.init(payload: node.payload, count: node.count) }
}
