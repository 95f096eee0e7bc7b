// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The objects that a migration step applies to: those of one class that match a query.
package struct MigrationMatch: Sendable {
    /// The name of the class without the prefix of its table.
    package let className: String
    /// The condition that objects must match; it matches all objects by default.
    package let query: Query
    /// Reads the arguments of the query.
    ///
    /// It is called on the writer's thread with the state in which the step begins, because an argument
    /// may be an object that only exists there.
    package let arguments: @Sendable (Snapshot) throws -> [QueryArgument]

    /// Describes the objects of a class that match a query.
    ///
    /// - Parameters:
    ///   - query: The condition; all objects by default.
    ///   - arguments: Reads the values for the placeholders of the query when the step begins.
    package init(
        _ className: String, _ query: Query = .all,
        arguments: @escaping @Sendable (Snapshot) throws -> [QueryArgument] = { _ in [] }
    ) {
        self.className = className
        self.query = query
        self.arguments = arguments
    }
}
