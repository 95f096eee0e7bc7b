// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a caller adds to the descriptors of a query: they apply after those in its text.
package struct ResultOrder: Sendable {
    /// A key path that results are sorted by.
    package struct Key: Sendable {
        package let path: String
        package let isAscending: Bool

        package init(path: String, isAscending: Bool = true) {
            self.path = path
            self.isAscending = isAscending
        }
    }

    /// Sorted first.
    package var sort: [Key]
    /// Then only the first of each combination of these values is kept.
    package var distinct: [String]

    /// An order, which is none without sort keys and without distinct paths.
    package init(sort: [Key] = [], distinct: [String] = []) {
        self.sort = sort
        self.distinct = distinct
    }

    package static let none = ResultOrder()
}
