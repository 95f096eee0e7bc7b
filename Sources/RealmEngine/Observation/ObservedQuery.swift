// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery

/// The selection, order and limit of an observed result, without the collection it selects from.
package struct ObservedQuery: Sendable {
    /// The condition; all rows by default.
    package let query: Query
    /// The values of the placeholders of the condition.
    package let arguments: [QueryArgument]
    /// The order, applied after the sorts in `query`.
    package let order: ResultOrder
    /// The maximum number of rows; nil for all.
    package let limit: Int?

    /// Makes a selection; by default it has all rows in their own order.
    ///
    /// - Parameters:
    ///   - query: The condition.
    ///   - arguments: The values of the placeholders.
    ///   - order: The order, applied after the sorts in `query`.
    ///   - limit: The maximum number of rows; nil for all.
    package init(_ query: Query = .all, _ arguments: [QueryArgument] = [], order: ResultOrder = .none, limit: Int? = nil) {
        self.query = query
        self.arguments = arguments
        self.order = order
        self.limit = limit
    }
}
