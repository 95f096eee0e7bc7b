// SPDX-License-Identifier: Apache-2.0

/// The type of a column in formats 2 to 9. Raw values are the numbers on disk.
///
/// Source: docs/format.md, "Formats 2 to 9".
package enum LegacyType: Int, Sendable {
    /// Signed integers of 64 bits.
    case int = 0
    /// Booleans; null is the null marker of integers.
    case bool = 1
    case string = 2
    /// Strings as positions in a list of distinct ones.
    case enumerated = 3
    case binary = 4
    /// Tables inside of rows, which SDKs used for lists of values.
    case table = 5
    /// Values of any type, in another form than that of today.
    case mixed = 6
    /// Dates as whole seconds.
    case oldDate = 7
    /// Dates with nanoseconds.
    case timestamp = 8
    /// Floating-point numbers of 32 bits.
    case float = 9
    /// Floating-point numbers of 64 bits.
    case double = 10
    /// Links to rows of one table.
    case link = 12
    /// Lists of links to rows of one table.
    case linkList = 13
    /// Hidden columns with the rows that link to each row.
    case backlink = 14
}
