// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What one pass over a file may read.
///
/// In a sound file every node has one parent, so a pass reads no more bytes than the file has. Where nodes share their children or
/// go in circles, it would; then it ends as damage. A node of width 0 also costs something for its elements, which need no bytes.
///
/// One thread uses it. It is a class, because the cursors of a pass spend from it together.
final class LegacyBudget {
    /// What is left, in units of eight bytes.
    var left: Int

    /// Makes a budget for one pass over the nodes of `space`.
    init(_ space: NodeSpace) { left = space.nodeBudget }

    /// Counts a node that is read.
    func spend(_ node: Node) throws(StorageError) {
        left -= max(1, node.byteCount >> 3, node.count >> 10)
        guard left >= 0 else { throw node.corrupt("nodes share their children: more of them are met than the file has room for") }
    }
}
