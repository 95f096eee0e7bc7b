// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request to group a result: by what, and what is calculated of each group besides its size.
package struct GroupRequest: Sendable {
    /// Something that the rows of a group have in common: the value of a key path, or a function of it.
    package struct Key: Sendable, Hashable {
        package let path: String
        /// The function of the value; nil for the value itself.
        package let function: ValueFunction?

        package init(_ path: String, _ function: ValueFunction? = nil) {
            self.path = path
            self.function = function
        }
    }

    /// The values that the rows of a group have in common; at least one.
    package let keys: [Key]
    package let aggregates: [AggregateRequest]
    /// The number of groups beyond which the result is refused.
    package let limit: Int

    /// Creates a request for groups.
    ///
    /// - Parameters:
    ///   - keys: The values that the rows of a group have in common; at least one.
    ///   - aggregates: The aggregates of each group, in the order of results.
    ///   - limit: The largest number of groups.
    package init(by keys: [Key], computing aggregates: [AggregateRequest] = [], atMost limit: Int) {
        self.keys = keys
        self.aggregates = aggregates
        self.limit = limit
    }
}

/// Allows a key path where the value itself is meant.
extension GroupRequest.Key: ExpressibleByStringLiteral {
    package init(stringLiteral path: String) { self.init(path) }
}
