// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
internal import RealmStorage

/// A selection with an order, without what it selects from.
package struct ObservedQuery: Sendable {
    package let query: Query
    package let arguments: [QueryArgument]
    /// Applied after what `query` says itself.
    package let order: ResultOrder
    /// Only the first so many.
    package let limit: Int?

    package init(_ query: Query = .all, _ arguments: [QueryArgument] = [], order: ResultOrder = .none, limit: Int? = nil) {
        self.query = query
        self.arguments = arguments
        self.order = order
        self.limit = limit
    }
}
