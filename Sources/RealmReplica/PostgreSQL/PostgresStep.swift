// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A statement with its values.
struct PostgresStep: Sendable {
    let statement: PostgresStatement
    /// The values of its parameters.
    let values: [PostgresValue]

    init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
        self.statement = statement
        self.values = values
    }
}
