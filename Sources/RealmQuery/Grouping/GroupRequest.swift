// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request to group a result: by what, and what is calculated of each group besides its size.
package struct GroupRequest: Sendable {
    /// The key paths whose values the rows of a group have in common; at least one.
    package let paths: [String]
    package let aggregates: [AggregateRequest]
    /// The number of groups beyond which the result is refused.
    package let limit: Int

    /// Creates a request for groups.
    ///
    /// - Parameters:
    ///   - paths: The key paths; at least one.
    ///   - aggregates: The aggregates of each group, in the order of results.
    ///   - limit: The largest number of groups.
    package init(by paths: [String], computing aggregates: [AggregateRequest] = [], atMost limit: Int) {
        self.paths = paths
        self.aggregates = aggregates
        self.limit = limit
    }
}
