// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The sort keys and distinct paths that a caller adds to a query. They apply after the descriptors in its text.
package struct ResultOrder: Sendable {
    /// A key path by which results are sorted.
    package struct Key: Sendable {
        /// The text of the key path, as a client writes it.
        package let path: String
        /// Whether results with smaller values come first.
        package let isAscending: Bool

        /// Creates a sort key from the text of a key path and a direction.
        package init(path: String, isAscending: Bool = true) {
            self.path = path
            self.isAscending = isAscending
        }
    }

    /// The sort keys, the most important one first; empty for no sorting.
    package var sort: [Key]
    /// The paths of which each combination of values is kept once, after sorting; empty to keep everything.
    package var distinct: [String]

    /// Creates an order. Without parameters it adds nothing.
    package init(sort: [Key] = [], distinct: [String] = []) {
        self.sort = sort
        self.distinct = distinct
    }

    /// The order that adds neither sorting nor distinct paths to a query.
    package static let none = ResultOrder()
}
