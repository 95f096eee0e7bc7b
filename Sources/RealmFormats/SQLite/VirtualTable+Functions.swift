// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import RealmPlatform
internal import RealmStorage

/// The functions that SQLite calls for virtual tables. No error crosses them: it is kept in `failures`.
enum VirtualFunctions {
    /// Adds a table to a database.
    ///
    /// - Parameters:
    ///   - table: The table, which outlives the database.
    ///   - database: The connection.
    /// - Returns: A code of SQLite.
    @unsafe static func add(_ table: VirtualTable, to database: OpaquePointer) -> Int32 {
        var functions = unsafe realm_rest_sqlite_functions(
            connect: connect, plan: plan, open: open, filter: filter, next: next, column: column, row: row, close: close)
        return unsafe realm_rest_sqlite_add(database, table.name, Unmanaged.passUnretained(table).toOpaque(), &functions)
    }

    private typealias Context = UnsafeMutableRawPointer

    private static func table(_ context: Context?) -> VirtualTable? {
        unsafe context.map { unsafe Unmanaged<VirtualTable>.fromOpaque($0).takeUnretainedValue() }
    }

    @inline(__always)
    private static func cursor(_ context: Context?) -> VirtualCursor? {
        unsafe context.map { unsafe Unmanaged<VirtualCursor>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a step of a cursor, and returns the code for its end.
    private static func step(_ cursor: VirtualCursor, _ body: (VirtualCursor) throws -> Bool) -> Int32 {
        do {
            return try body(cursor) ? SQLITE_ROW : SQLITE_DONE
        } catch {
            cursor.failures.note(error)
            return SQLITE_ABORT
        }
    }

    private static let connect: @convention(c) (Context?, OpaquePointer?) -> Int32 = { context, database in
        guard let table = unsafe table(context), let database = unsafe database else { return SQLITE_MISUSE }
        return unsafe sqlite3_declare_vtab(database, table.declaration)
    }

    private static let plan: @convention(c) (Context?, UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 = { context, info in
        guard let table = unsafe table(context), let info = unsafe info else { return SQLITE_MISUSE }
        do {
            let plan = try table.plan(unsafe request(info))
            return unsafe apply(plan, to: info)
        } catch {
            table.failures.note(error)
            return SQLITE_ABORT
        }
    }

    private static let open: @convention(c) (Context?) -> Context? = { context in
        guard let table = unsafe table(context) else { return nil }
        return unsafe Unmanaged.passRetained(table.open()).toOpaque()
    }

    private static let filter: @convention(c) (Context?, Int32, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32 = {
        context, plan, count, values in
        guard let cursor = unsafe cursor(context) else { return SQLITE_MISUSE }
        var found: [SQLiteStatement.Found] = []
        for index in 0..<Int(count) { found.append(unsafe SQLiteStatement.Found(values?[index])) }
        return step(cursor) { try $0.begin(Int(plan), found) }
    }

    private static let next: @convention(c) (Context?) -> Int32 = { context in
        guard let cursor = unsafe cursor(context) else { return SQLITE_MISUSE }
        return step(cursor) { try $0.next() }
    }

    private static let column: @convention(c) (Context?, OpaquePointer?, Int32) -> Int32 = { context, result, column in
        guard let cursor = unsafe cursor(context), let result = unsafe result else { return SQLITE_MISUSE }
        do {
            try cursor.write(Int(column), to: unsafe SQLiteResult(result))
            return SQLITE_OK
        } catch {
            cursor.failures.note(error)
            return SQLITE_ABORT
        }
    }

    private static let row: @convention(c) (Context?) -> Int64 = { context in unsafe cursor(context)?.row ?? 0 }

    private static let close: @convention(c) (Context?) -> Void = { context in
        if let context = unsafe context { unsafe Unmanaged<VirtualCursor>.fromOpaque(context).release() }
    }

    // MARK: - Plans

    /// Reads a request of SQLite.
    private static func request(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> VirtualRequest {
        var request = VirtualRequest()
        for index in 0..<Int(unsafe info.pointee.nConstraint) {
            let one = unsafe info.pointee.aConstraint[index]
            // Other collations find more than equal bytes.
            let isUsable = unsafe one.usable != 0 && isBinary(sqlite3_vtab_collation(info, Int32(index)))
            request.constraints.append(
                .init(
                    column: Int(one.iColumn), comparison: comparison(one.op), isUsable: isUsable,
                    isList: unsafe sqlite3_vtab_in(info, Int32(index), -1) != 0))
        }
        for index in 0..<Int(unsafe info.pointee.nOrderBy) {
            let one = unsafe info.pointee.aOrderBy[index]
            request.order.append(.init(column: Int(one.iColumn), isDescending: one.desc != 0))
        }
        return request
    }

    private static func isBinary(_ collation: UnsafePointer<CChar>?) -> Bool {
        guard let collation = unsafe collation else { return true }
        return unsafe String(cString: collation).lowercasedASCII == "binary"
    }

    private static func comparison(_ code: UInt8) -> VirtualRequest.Comparison {
        switch Int32(code) {
        case SQLITE_INDEX_CONSTRAINT_EQ: return .equal
        case SQLITE_INDEX_CONSTRAINT_LT: return .less
        case SQLITE_INDEX_CONSTRAINT_LE: return .lessOrEqual
        case SQLITE_INDEX_CONSTRAINT_GT: return .greater
        case SQLITE_INDEX_CONSTRAINT_GE: return .greaterOrEqual
        case SQLITE_INDEX_CONSTRAINT_LIKE: return .like
        case SQLITE_INDEX_CONSTRAINT_LIMIT: return .limit
        case SQLITE_INDEX_CONSTRAINT_OFFSET: return .offset
        default: return .other
        }
    }

    /// Writes a plan for SQLite, which tests each constraint of the found rows once more.
    private static func apply(_ plan: VirtualPlan, to info: UnsafeMutablePointer<sqlite3_index_info>) -> Int32 {
        for (position, constraint) in plan.uses.enumerated() {
            unsafe info.pointee.aConstraintUsage[constraint].argvIndex = Int32(position + 1)
        }
        unsafe info.pointee.idxNum = Int32(plan.number)
        unsafe info.pointee.estimatedCost = plan.cost
        unsafe info.pointee.estimatedRows = plan.rows
        unsafe info.pointee.orderByConsumed = plan.isOrdered ? 1 : 0
        unsafe info.pointee.idxFlags = plan.isUnique ? Int32(SQLITE_INDEX_SCAN_UNIQUE) : 0
        return unsafe realm_rest_sqlite_describe(info, plan.text)
    }
}

/// The place where a virtual table returns a value.
@safe struct SQLiteResult {
    /// The context of the library.
    private let handle: OpaquePointer

    /// Wraps a context, which is valid during one call.
    fileprivate init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    @inline(__always) func null() { unsafe sqlite3_result_null(handle) }
    @inline(__always) func int(_ number: Int64) { unsafe sqlite3_result_int64(handle, number) }

    /// Returns a number. SQLite has no value that is not a number.
    @inline(__always) func double(_ number: Double) {
        // A database keeps no sign of zero.
        if number.isNaN { text("NaN") } else { unsafe sqlite3_result_double(handle, number == 0 ? 0 : number) }
    }

    func text(_ text: String) {
        var text = text
        text.withUTF8 { unsafe realm_rest_sqlite_result_text(handle, $0.baseAddress, UInt64($0.count)) }
    }

    /// Returns a copy of bytes.
    func bytes(_ bytes: ByteView, asText isText: Bool) {
        unsafe bytes.withBuffer { buffer in
            if isText {
                unsafe realm_rest_sqlite_result_text(handle, buffer.baseAddress, UInt64(buffer.count))
            } else {
                unsafe realm_rest_sqlite_result_blob(handle, buffer.baseAddress, UInt64(buffer.count))
            }
        }
    }
}

extension SQLiteStatement.Found {
    /// Copies a value of the library; nil is null.
    fileprivate init(_ value: OpaquePointer?) {
        guard let value = unsafe value else {
            self = .null
            return
        }
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .int(unsafe sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .double(unsafe sqlite3_value_double(value))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_value_text(value)
            self = .text(unsafe Array(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_value_blob(value)
            self = .blob(unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))))
        default: self = .null
        }
    }
}
