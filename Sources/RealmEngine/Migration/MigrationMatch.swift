// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Objects of a class, chosen by a query.
package struct MigrationMatch: Sendable {
    /// The class, without prefix.
    package let className: String
    /// The condition; all objects by default.
    package let query: Query
    /// Reads the arguments against the state in which the step begins.
    package let arguments: @Sendable (Snapshot) throws -> [QueryArgument]

    /// The objects of a class that match a query.
    package init(
        _ className: String, _ query: Query = .all,
        arguments: @escaping @Sendable (Snapshot) throws -> [QueryArgument] = { _ in [] }
    ) {
        self.className = className
        self.query = query
        self.arguments = arguments
    }
}
