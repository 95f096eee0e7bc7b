// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The part of a result that is wanted: a page, for example.
package struct ResultWindow: Sendable {
    /// The number of results to leave out, at least 0. It counts from `after`, if that is given.
    package var offset: Int
    /// The greatest number of results to deliver; nil for all of them.
    package var limit: Int?
    /// The place in the order of the result after which the part begins; nil for the start.
    package var after: PagePosition?

    /// Creates a window; without parameters it contains the whole result.
    ///
    /// - Parameters:
    ///   - offset: The number of results to leave out; a negative number counts as 0.
    ///   - limit: The greatest number of results; nil for all.
    ///   - after: The place after which the part begins.
    package init(offset: Int = 0, limit: Int? = nil, after: PagePosition? = nil) {
        self.offset = max(offset, 0)
        self.limit = limit
        self.after = after
    }

    /// The window that contains the whole result.
    package static let all = ResultWindow()

    /// The number of results, from the start, that have to be known; `Int.max` for all.
    var end: Int { limit.map { offset.addingReportingOverflow(max($0, 0)).overflow ? .max : offset + max($0, 0) } ?? .max }
}
