// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Hands out the values of a column, or of one list, in the order of rows.
protocol LegacySource {
    /// Appends the next values.
    ///
    /// - Parameters:
    ///   - limit: How many; fewer are appended only at the end.
    ///   - values: Receives them. Links are row numbers as integers.
    mutating func read(_ limit: Int, into values: inout [Value?]) throws(StorageError)

    /// Decrypts the pages at the source's position again, after pages were released.
    mutating func renew() throws(StorageError)
}

/// The choice of a source.
extension LegacyReading {
    /// Returns the source of a column's values.
    ///
    /// - Parameters:
    ///   - column: The column: none of tables, lists of links or backlinks.
    func values(of column: LegacyColumn, at root: Ref) throws(StorageError) -> any LegacySource {
        switch column.type {
        case .enumerated: return LegacyEnumerated(column, root, self)
        case .timestamp: return try LegacyTimestamps(root, isNullable: column.isNullable, self)
        case .mixed: return try LegacyMixed(root, self)
        default: return LegacyValues(root, column.type, isNullable: column.isNullable, self)
        }
    }
}
