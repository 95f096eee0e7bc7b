// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The limits that the parser applies to one JSON document.
package struct JSONBounds: Sendable {
    /// The limit of nested arrays and objects.
    let depth: Int
    /// The number of values of any kind that the document may have. A parsed value uses about a hundred bytes of memory, however
    /// short its text is, so the length of the text alone does not bound the memory.
    let values: Int

    /// Makes limits for a document.
    ///
    /// - Parameters:
    ///   - depth: The greatest number of nested arrays and objects.
    ///   - values: The greatest number of values; without it any number is accepted.
    package init(depth: Int, values: Int = .max) {
        self.depth = depth
        self.values = values
    }

    /// The depth that a line of an export can reach: a hundred embedded objects, each in a list of the one before, and a hundred
    /// nested collections in the last one. An import accepts this depth, so that every export can be read back.
    package static let deepestExport = 320
}
