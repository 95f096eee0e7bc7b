// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A statement with its values.
struct PostgresStep: Sendable {
    /// The statement.
    let statement: PostgresStatement
    /// The values of its parameters.
    let values: [PostgresValue]

    /// Makes a step.
    init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
        self.statement = statement
        self.values = values
    }
}
