// SPDX-License-Identifier: Apache-2.0

/// How large one JSON document may be.
package struct JSONBounds: Sendable {
    /// Nested arrays and objects.
    let depth: Int
    /// Values of any kind. A parsed value takes some hundred bytes of memory however short its text is.
    let values: Int

    /// Bounds of `depth` levels and `values` values; without `values` there may be any number of them.
    package init(depth: Int, values: Int = .max) {
        self.depth = depth
        self.values = values
    }

    /// As deep as a line of an export can be: a hundred embedded objects, each in a list of the one before, and a hundred
    /// collections in each other in the last one.
    package static let deepestExport = 320
}
