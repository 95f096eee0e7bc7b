// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import RealmPlatform
internal import RealmStorage

/// Bounds the memory of one database, whichever threads use it one after the other.
///
/// `@unchecked Sendable`: one thread at a time uses the database, and this with it.
final class SQLiteBounds: @unchecked Sendable {
    /// The greatest number of bytes; beyond it the library has no memory.
    private let byteLimit: Int
    /// The number of bytes that the library has.
    private var used: Int64 = 0
    /// Called while the library allocates; false cancels the work.
    private let continues: () -> Bool

    /// Creates bounds.
    ///
    /// - Parameters:
    ///   - byteLimit: The greatest number of bytes.
    ///   - continues: Called during long work, even where the library itself has no callback; false cancels it.
    init(_ byteLimit: Int, continues: @escaping () -> Bool) {
        self.byteLimit = byteLimit
        self.continues = continues
    }

    /// Calls `body`, in which the database is opened, used or closed.
    func within<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe realm_rest_sqlite_bound_again(
            Int64(byteLimit), used,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<SQLiteBounds>.fromOpaque(context).takeUnretainedValue().continues() ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { used = realm_rest_sqlite_unbound() }
        return try body()
    }
}
