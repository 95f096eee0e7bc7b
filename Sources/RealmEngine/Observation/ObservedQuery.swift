// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
internal import RealmStorage

/// A selection with an order, without what it selects from.
package struct ObservedQuery: Sendable {
    /// The condition; all rows by default.
    package let query: Query
    /// The values of the placeholders of the condition.
    package let arguments: [QueryArgument]
    /// Applied after what `query` says itself.
    package let order: ResultOrder
    /// Only the first so many.
    package let limit: Int?

    /// A selection; without anything, all rows in their own order.
    package init(_ query: Query = .all, _ arguments: [QueryArgument] = [], order: ResultOrder = .none, limit: Int? = nil) {
        self.query = query
        self.arguments = arguments
        self.order = order
        self.limit = limit
    }
}
