// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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
    /// A row does not fit the constraints of its table.
    case constraint
    /// The library has no memory, or as much as it may have.
    case noMemory
    /// Anything else, with the code of SQLite.
    case other(Int32)
}
