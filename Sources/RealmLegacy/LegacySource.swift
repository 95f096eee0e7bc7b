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

/// The strings of an enumerated column: positions in a list of distinct ones.
struct LegacyEnumerated: LegacySource {
    private var positions: LegacyValues
    /// The distinct strings.
    private var keys: LegacyLookup

    /// Makes a source in front of the first value.
    init(_ column: LegacyColumn, _ root: Ref, _ reading: LegacyReading) {
        positions = LegacyValues(root, .enumerated, isNullable: false, reading)
        keys = LegacyLookup(column.keys, .string, isNullable: column.isNullable, reading)
    }

    mutating func read(_ limit: Int, into values: inout [Value?]) throws(StorageError) {
        let start = values.count
        try positions.read(limit, into: &values)
        var last: (position: Int64, value: Value)?
        for index in start..<values.count {
            guard case .int(let position)? = values[index] else { continue }
            // Many rows in a run have one position.
            if let last, last.position == position {
                values[index] = last.value
            } else {
                let value = try keys.value(at: position)
                last = (position, value)
                values[index] = value
            }
        }
    }

    mutating func renew() throws(StorageError) {
        try positions.renew()
        keys.renew()
    }
}
