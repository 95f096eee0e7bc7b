// SPDX-License-Identifier: Apache-2.0

/// The keys under which a search index files objects.
package enum IndexForm: Sendable {
    /// The data of single values.
    case values
    /// The words of texts.
    case words
    /// The elements of lists of texts.
    case elements

    /// The form of a column's index; nil for a property that cannot have one.
    package init?(of column: Column) {
        switch (column.collection, column.type, column.declaredIndex) {
        case (nil, .string, .fullText): self = .words
        case (.list, .string, _): self = .elements
        case (nil, .int, _), (nil, .bool, _), (nil, .string, _), (nil, .timestamp, _), (nil, .objectID, _), (nil, .uuid, _),
            (nil, .mixed, _):
            self = .values
        default: return nil
        }
    }
}

/// The capacities of the nodes of an index.
///
/// Files of other sizes than the standard are sound, but slower in other programs; tests use small
/// sizes to make splits happen early.
package struct IndexCapacity: Sendable {
    /// How many keys a node holds, at least 2.
    package var ofNodes: Int
    /// How many object keys a leaf of a list holds, at least 2.
    package var ofLists: Int

    /// Makes other sizes than the standard, for tests of deep trees.
    package init(ofNodes: Int, ofLists: Int) {
        self.ofNodes = ofNodes
        self.ofLists = ofLists
    }

    /// The sizes in files: 1000 keys in a node, and 1000 objects in a leaf of a list.
    package static let standard = IndexCapacity(ofNodes: 1000, ofLists: 1000)
}
