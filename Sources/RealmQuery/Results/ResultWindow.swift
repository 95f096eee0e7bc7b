// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Which part of a result is wanted.
package struct ResultWindow: Sendable {
    package var offset: Int
    /// Nil for all.
    package var limit: Int?
    /// Only what comes behind this place in the order of the result.
    package var after: PagePosition?

    package init(offset: Int = 0, limit: Int? = nil, after: PagePosition? = nil) {
        self.offset = max(offset, 0)
        self.limit = limit
        self.after = after
    }

    package static let all = ResultWindow()

    /// How many results have to be known from the start.
    var end: Int { limit.map { offset.addingReportingOverflow(max($0, 0)).overflow ? .max : offset + max($0, 0) } ?? .max }
}
