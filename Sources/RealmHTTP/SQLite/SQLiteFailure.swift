// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Why SQLite could not do something.
enum SQLiteFailure: Error, Equatable {
    /// The file is no database of SQLite, or is damaged.
    case malformed
    /// The database holds something that is refused: a function, a view, a virtual table.
    case refused
    /// The file would exceed its limit, or the disk is full.
    case full
    /// The work was ended from outside.
    case interrupted
    /// A value is longer than permitted.
    case tooLong
    /// Anything else, with the code of SQLite.
    case other(Int32)
}
