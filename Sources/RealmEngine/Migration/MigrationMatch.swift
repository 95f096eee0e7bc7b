// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Objects of a class, chosen by a query.
package struct MigrationMatch: Sendable {
    package let className: String
    package let query: Query
    /// Reads the arguments against the state in which the step begins.
    package let arguments: @Sendable (Snapshot) throws -> [QueryArgument]

    package init(
        _ className: String, _ query: Query = .all,
        arguments: @escaping @Sendable (Snapshot) throws -> [QueryArgument] = { _ in [] }
    ) {
        self.className = className
        self.query = query
        self.arguments = arguments
    }
}
