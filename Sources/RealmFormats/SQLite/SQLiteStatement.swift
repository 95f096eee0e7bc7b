// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import RealmPlatform
internal import RealmStorage

/// A prepared statement of SQLite. One thread at a time uses it.
@safe final class SQLiteStatement {
    /// The value of one column of a row. The library keeps none of it.
    enum Found: Equatable {
        /// Nothing.
        case null
        /// A whole number.
        case int(Int64)
        /// A floating-point number.
        case double(Double)
        /// The bytes of a text, which need not be UTF-8.
        case text([UInt8])
        /// Bytes.
        case blob([UInt8])

        /// The length of a text or of bytes; 0 for all else.
        var byteCount: Int {
            switch self {
            case .text(let bytes), .blob(let bytes): return bytes.count
            case .null, .int, .double: return 0
            }
        }

        /// Whether two keys are the same, independent of the collations and types that a file declares: equal numbers, equal bytes,
        /// or a whole number and its plain decimal text.
        func isSameKey(as other: Found) -> Bool {
            switch (self, other) {
            case (.int(let number), .text(let bytes)), (.text(let bytes), .int(let number)):
                return String(number).utf8.elementsEqual(bytes)
            case (.int(let number), .double(let real)), (.double(let real), .int(let number)):
                return Int64(exactly: real) == number
            case (.null, _): return false
            default: return self == other
            }
        }
    }

    /// The statement of the library.
    private let handle: OpaquePointer
    /// Keeps the connection open.
    private let database: SQLiteDatabase

    /// Takes over a statement.
    init(_ handle: OpaquePointer, of database: SQLiteDatabase) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// The number of columns of a row that is found.
    var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    var parameterCount: Int { Int(unsafe sqlite3_bind_parameter_count(handle)) }

    /// Whether the statement asks for the program of another one, in which addresses of memory are.
    var explainsProgram: Bool { unsafe sqlite3_stmt_isexplain(handle) == 1 }

    /// Whether the statement cannot change anything.
    var onlyReads: Bool { unsafe sqlite3_stmt_readonly(handle) != 0 }

    /// Returns the name of a column of the result.
    func columnName(_ column: Int) -> String {
        guard let text = unsafe sqlite3_column_name(handle, Int32(column)) else { return "" }
        return unsafe String(cString: text)
    }

    /// Returns the declared type of a column that is one of a table; nil for others.
    func declaredType(_ column: Int) -> String? {
        guard let text = unsafe sqlite3_column_decltype(handle, Int32(column)) else { return nil }
        return unsafe String(cString: text)
    }

    /// Advances to the next row of a statement that a client wrote.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: `SQLiteDatabase.Refusal`.
    func step() throws(SQLiteDatabase.Refusal) -> Bool {
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw database.refusal(code) }
        return code == SQLITE_ROW
    }

    /// Calls `body` with a value of the present row, which is valid during the call. Texts and bytes are not copied.
    func withValue<Result, Failure: Error>(_ column: Int, _ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        let column = Int32(column)
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return try body(.int(unsafe sqlite3_column_int64(handle, column)))
        case SQLITE_FLOAT: return try body(.double(unsafe sqlite3_column_double(handle, column)))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_column_text(handle, column)
            return try body(.string(unsafe ByteView(start: start, count: Int(sqlite3_column_bytes(handle, column)))))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
            return try body(.binary(unsafe ByteView(start: start, count: Int(sqlite3_column_bytes(handle, column)))))
        default: return try body(.null)
        }
    }

    /// Binds null to a parameter.
    ///
    /// - Parameter index: The number of the parameter, from 1, as in all functions that bind.
    func bindNull(_ index: Int) { unsafe sqlite3_bind_null(handle, Int32(index)) }

    /// Binds a whole number.
    func bind(_ index: Int, _ number: Int64) { unsafe sqlite3_bind_int64(handle, Int32(index), number) }

    /// Binds a floating-point number, which must be a number.
    func bind(_ index: Int, _ number: Double) { unsafe sqlite3_bind_double(handle, Int32(index), number) }

    /// Binds a text.
    ///
    /// - Throws: `.tooLong`, or `.other` without memory.
    func bind(_ index: Int, _ text: String) throws(SQLiteFailure) {
        var text = text
        let code = text.withUTF8 { bytes in
            unsafe realm_rest_sqlite_bind_text(handle, Int32(index), bytes.baseAddress, UInt64(bytes.count))
        }
        guard code == SQLITE_OK else { throw SQLiteDatabase.failure(code) }
    }

    /// Binds bytes, as a text that is UTF-8 or as a blob.
    ///
    /// - Throws: `.tooLong`, or `.other` without memory.
    func bind(_ index: Int, _ bytes: ByteView, asText isText: Bool) throws(SQLiteFailure) {
        let code = unsafe bytes.withBuffer { buffer in
            isText
                ? unsafe realm_rest_sqlite_bind_text(handle, Int32(index), buffer.baseAddress, UInt64(buffer.count))
                : unsafe realm_rest_sqlite_bind_blob(handle, Int32(index), buffer.baseAddress, UInt64(buffer.count))
        }
        guard code == SQLITE_OK else { throw SQLiteDatabase.failure(code) }
    }

    /// Runs a statement that finds nothing, and makes it ready for the next row. Nothing that was bound stays in memory.
    ///
    /// - Throws: `SQLiteFailure`.
    func run() throws(SQLiteFailure) {
        let code = unsafe sqlite3_step(handle)
        _ = unsafe sqlite3_reset(handle)
        _ = unsafe sqlite3_clear_bindings(handle)
        guard code == SQLITE_DONE else { throw SQLiteDatabase.failure(code) }
    }

    /// Restarts, with a value for the only parameter.
    ///
    /// - Throws: `.tooLong`, or `.other` without memory.
    func find(_ value: Found) throws(SQLiteFailure) {
        _ = unsafe sqlite3_reset(handle)
        switch value {
        case .null: bindNull(1)
        case .int(let number): bind(1, number)
        case .double(let number): bind(1, number)
        case .text(let bytes): try bind(1, bytes, asText: true)
        case .blob(let bytes): try bind(1, bytes, asText: false)
        }
    }

    /// Binds a copy of an array, as the function for a view does.
    func bind(_ index: Int, _ bytes: [UInt8], asText isText: Bool) throws(SQLiteFailure) {
        try ByteView.withBytes(of: bytes) { view throws(SQLiteFailure) in try bind(index, view, asText: isText) }
    }

    /// Advances to the next row.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: `SQLiteFailure`, of a damaged file for example.
    func next() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw SQLiteDatabase.failure(code) }
        return code == SQLITE_ROW
    }

    /// Returns the value of a column of the present row.
    ///
    /// - Parameter column: The number of the column, from 0.
    func value(_ column: Int) -> Found {
        let column = Int32(column)
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .int(unsafe sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .double(unsafe sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_column_text(handle, column)
            return .text(unsafe Array(UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)
            return .blob(
                unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))))
        default: return .null
        }
    }
}
