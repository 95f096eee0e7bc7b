// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import RealmPlatform
internal import RealmStorage

/// A database of SQLite in a file without a name. One thread at a time uses it.
@safe final class SQLiteDatabase {
    /// The connection of the library.
    private let handle: OpaquePointer
    /// Called at intervals; false cancels the work.
    private let continues: () -> Bool

    /// Makes a database in an empty file.
    ///
    /// - Parameters:
    ///   - descriptor: The open file, which outlives the database.
    ///   - byteLimit: The greatest length of the file.
    ///   - continues: Called during long work; false cancels it.
    /// - Throws: `SQLiteFailure` when the library has no memory or the file cannot be written.
    init(creatingIn descriptor: Int32, byteLimit: Int, continues: @escaping () -> Bool) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let code = unsafe realm_rest_sqlite_create(descriptor, Int64(byteLimit), &opened)
        guard code == SQLITE_OK, let made = unsafe opened else { throw SQLiteDatabase.failure(code) }
        unsafe handle = made
        self.continues = continues
        watch()
    }

    /// Opens an untrusted database for reading.
    ///
    /// - Parameters:
    ///   - descriptor: The open file, which outlives the database and does not change.
    ///   - valueLimit: The greatest length of a value, in bytes.
    ///   - continues: Called during long work; false cancels it.
    /// - Throws: `SQLiteFailure` when the library has no memory.
    init(reading descriptor: Int32, valueLimit: Int, continues: @escaping () -> Bool) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let code = unsafe realm_rest_sqlite_open(descriptor, Int32(clamping: valueLimit), &opened)
        guard code == SQLITE_OK, let made = unsafe opened else { throw SQLiteDatabase.failure(code) }
        unsafe handle = made
        self.continues = continues
        watch()
    }

    /// The tables of a database without a file.
    private var tables: [VirtualTable] = []

    /// Makes a database without a file that only has virtual tables, and only runs statements that read.
    ///
    /// - Parameters:
    ///   - valueLimit: The greatest length of a value, in bytes.
    ///   - textLimit: The greatest length of a statement, in bytes.
    ///   - continues: Called during long work; false cancels it.
    /// - Throws: `SQLiteFailure` when the library has no memory.
    init(of tables: [VirtualTable], valueLimit: Int, textLimit: Int, continues: @escaping () -> Bool) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let code = unsafe realm_rest_sqlite_live(Int32(clamping: valueLimit), Int32(clamping: textLimit), &opened)
        guard code == SQLITE_OK, let made = unsafe opened else { throw SQLiteDatabase.failure(code) }
        unsafe handle = made
        self.continues = continues
        self.tables = tables
        for table in tables {
            let code = unsafe VirtualFunctions.add(table, to: handle)
            guard code == SQLITE_OK else { throw SQLiteDatabase.failure(code) }
        }
        // A step may call a function on a long value.
        watch(steps: 50)
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Bounds the allocations of the library on this thread while `body` opens, reads and closes an untrusted database.
    ///
    /// - Parameters:
    ///   - byteLimit: The greatest number of bytes; beyond it the library has no memory.
    ///   - continues: Called during long work, even where the library itself has no callback; false cancels it.
    ///   - body: Opens, reads and closes the database.
    static func bounded<Result>(to byteLimit: Int, continues: @escaping () -> Bool, _ body: () throws -> Result) rethrows
        -> Result
    {
        let watch = Watch(continues)
        unsafe realm_rest_sqlite_bound(
            Int64(byteLimit),
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().continues() ? 0 : 1
            }, Unmanaged.passUnretained(watch).toOpaque())
        defer {
            realm_rest_sqlite_bound(0, nil, nil)
            withExtendedLifetime(watch) {}
        }
        return try body()
    }

    /// Holds a function for the library.
    private final class Watch {
        let continues: () -> Bool
        init(_ continues: @escaping () -> Bool) { self.continues = continues }
    }

    /// Lets the library ask `continues`.
    private func watch(steps: Int32 = 200) {
        // The object outlives its connection, which is closed in `deinit`.
        unsafe realm_rest_sqlite_watch(
            handle, steps,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<SQLiteDatabase>.fromOpaque(context).takeUnretainedValue().continues() ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs statements without results.
    ///
    /// - Parameter sql: Statements of this program, never of a client.
    /// - Throws: `SQLiteFailure`.
    func run(_ sql: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteDatabase.failure(code) }
    }

    /// Prepares a statement.
    ///
    /// - Parameter sql: A statement of this program; names of clients in it are quoted by `quoted`.
    /// - Throws: `SQLiteFailure`.
    func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
        var made: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &made, nil)
        guard code == SQLITE_OK, let statement = unsafe made else { throw SQLiteDatabase.failure(code) }
        return unsafe SQLiteStatement(statement, of: self)
    }

    /// An error of a statement that a client wrote.
    struct Refusal: Error {
        let failure: SQLiteFailure
        /// The message of the library.
        let message: String
        /// The place of the error in the text, in bytes; nil where the library knows none.
        let offset: Int?
    }

    /// Returns the refusal that a code of the library means now.
    func refusal(_ code: Int32) -> Refusal {
        let offset = Int(unsafe sqlite3_error_offset(handle))
        return unsafe Refusal(
            failure: SQLiteDatabase.failure(code), message: String(cString: sqlite3_errmsg(handle)),
            offset: offset < 0 ? nil : offset)
    }

    /// Prepares a statement that a client wrote.
    ///
    /// - Returns: The statement; nil when the text has none.
    /// - Throws: `Refusal`, also for text after the statement.
    func prepare(only text: String) throws(Refusal) -> SQLiteStatement? {
        let bytes = Array(text.utf8)
        let (first, end) = try prepare(bytes[...])
        guard end < bytes.count, try prepare(bytes[end...]).statement != nil else { return first }
        throw Refusal(failure: .refused, message: "expected one statement, got text after it", offset: end)
    }

    /// Prepares the first statement of a text, and returns its end.
    private func prepare(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> (statement: SQLiteStatement?, end: Int) {
        var made: OpaquePointer?
        var read = 0
        let code = unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.bindMemory(to: CChar.self).baseAddress
            var tail: UnsafePointer<CChar>?
            let code = unsafe sqlite3_prepare_v2(handle, start, Int32(clamping: buffer.count), &made, &tail)
            if let start = unsafe start, let tail = unsafe tail { read = unsafe tail - start }
            return code
        }
        guard code == SQLITE_OK else { throw refusal(code) }
        return unsafe (made.map { unsafe SQLiteStatement($0, of: self) }, bytes.startIndex + read)
    }

    /// Returns a name in the form for statements.
    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Returns the failure that a code of the library means.
    static func failure(_ code: Int32) -> SQLiteFailure {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FORMAT: return .malformed
        case SQLITE_AUTH: return .unauthorized
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_ERROR: return .refused
        case SQLITE_FULL: return .full
        case SQLITE_INTERRUPT: return .interrupted
        case SQLITE_TOOBIG: return .tooLong
        case SQLITE_NOMEM: return .noMemory
        case SQLITE_CONSTRAINT: return .constraint
        default: return .other(code)
        }
    }
}

/// The reason for a failure of SQLite.
enum SQLiteFailure: Error, Equatable {
    /// The file is no database of SQLite, or is damaged.
    case malformed
    /// The database holds something that is refused: a function, a view, a virtual table.
    case refused
    /// A statement does something that is not permitted.
    case unauthorized
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
