// SPDX-License-Identifier: Apache-2.0

/// How much fits into the nodes of an index; other sizes than the standard are for tests.
///
/// Files of other sizes are sound, but slower in other programs; tests use small ones to make splits happen early.
package struct IndexCapacity: Sendable {
    /// Keys in a node, at least 2.
    package var ofNodes: Int
    /// Object keys in a leaf of a list, at least 2.
    package var ofLists: Int

    /// Sizes for tests of deep trees.
    package init(ofNodes: Int, ofLists: Int) {
        self.ofNodes = ofNodes
        self.ofLists = ofLists
    }

    /// The sizes in files.
    package static let standard = IndexCapacity(ofNodes: 1000, ofLists: 1000)
}
