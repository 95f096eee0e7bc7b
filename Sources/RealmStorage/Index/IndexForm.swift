// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What a search index files objects under.
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
