// SPDX-License-Identifier: Apache-2.0

internal import CXlsxWriter
internal import RealmPlatform
internal import RealmStorage

/// A workbook of Excel that is written row by row. One thread at a time uses it.
@safe final class Workbook {
    /// The reason why a workbook could not be written.
    enum Failure: Error, Equatable {
        /// A sheet has more rows, or columns, than Excel takes.
        case tooLarge
        /// There is no room for a file of the workbook, or it cannot be made.
        case unwritten
        /// The library refused its input, with its code.
        case failed(Int)
    }

    /// The most rows and columns of a sheet, and the longest text of a cell in UTF-16 code units.
    static let (rowLimit, columnLimit, textLimit) = (1_048_576, 16_384, 32_767)

    /// The workbook of the library; nil once it is closed.
    private var book: UnsafeMutablePointer<lxw_workbook>?
    /// The temporary file of each sheet.
    private var files: [SheetFile] = []
    /// The copy that the library reads while it packs a sheet.
    private var copy: SheetFile?
    /// Returns whether the workbook is still wanted.
    private let continues: () -> Bool
    /// Whether the workbook was found to be unwanted. Its sheets are incomplete then.
    private var isAborted = false
    /// The bytes of the files of all sheets but the one that is written, and of the longest of them.
    private var (completeBytes, longestBytes) = (0, 0)
    /// The sheet that is written.
    private var sheet: UnsafeMutablePointer<lxw_worksheet>?
    /// The format of the first row, and that of dates.
    private let heading: UnsafeMutablePointer<lxw_format>?
    private let date: UnsafeMutablePointer<lxw_format>?

    /// Begins a workbook.
    ///
    /// - Parameters:
    ///   - path: The place of the file when it is closed.
    ///   - continues: Returns whether the workbook is still wanted. It is called often while the workbook is put together.
    /// - Throws: `Failure` when the library has no memory.
    init(path: String, continues: @escaping () -> Bool = { true }) throws(Failure) {
        self.continues = continues
        // Rows are written to temporary files, so that memory does not grow with them.
        var options = unsafe lxw_workbook_options()
        unsafe options.constant_memory = 1
        unsafe options.use_zip64 = 1
        guard let made = unsafe workbook_new_opt(path, &options) else { throw .failed(0) }
        unsafe book = made
        unsafe heading = unsafe workbook_add_format(made)
        unsafe format_set_bold(heading)
        unsafe date = unsafe workbook_add_format(made)
        unsafe format_set_num_format(date, "yyyy-mm-dd hh:mm:ss.000")
    }

    deinit {
        // The library leaves the files of the sheets open; they are closed with `files`, after this.
        if let open = unsafe book { unsafe lxw_workbook_free(open) }
    }

    /// The file of the sheet that is written; nil before the first.
    var openFile: Int32? { files.last?.descriptor }

    /// Returns the approximate size of the temporary files in bytes. They are gone with this object.
    ///
    /// - Throws: `Failure` when a row could not be written.
    func temporaryByteCount() throws(Failure) -> Int { completeBytes + (try files.last?.byteCount() ?? 0) }

    /// The bytes of a copy that the library makes of each sheet while it puts the workbook together; at most one exists at a time.
    func copyByteCount() throws(Failure) -> Int { max(longestBytes, try files.last?.byteCount() ?? 0) }

    /// Adds a sheet for all later rows.
    ///
    /// - Parameters:
    ///   - name: A name of at most 31 characters that no other sheet has.
    ///   - columns: The cells of the first row.
    /// - Throws: `Failure`.
    func beginSheet(_ name: String, columns: [String]) throws(Failure) {
        if let last = files.last {
            try last.flush()
            let count = try last.byteCount()
            completeBytes += count
            longestBytes = max(longestBytes, count)
        }
        guard let made = unsafe workbook_add_worksheet(book, name), let file = unsafe made.pointee.optimize_tmpfile else {
            throw .unwritten
        }
        // The library makes a copy of the sheet before it reads the file, and packs the bytes of that copy.
        let rows = try unsafe SheetFile(file, continues: mayContinue) { [unowned self] in unsafe watchCopy(of: made) }
        unsafe made.pointee.optimize_tmpfile = unsafe rows.stream
        unsafe made.pointee.file = unsafe rows.stream
        files.append(rows)
        unsafe sheet = made
        for (column, title) in columns.enumerated() {
            try check(unsafe worksheet_write_string(made, 0, lxw_col_t(column), title, heading))
        }
        unsafe worksheet_freeze_panes(made, 1, 0)
    }

    /// Writes a text, which is never taken as a formula.
    ///
    /// - Parameters:
    ///   - text: A text of at most `textLimit` code units.
    ///   - row: The row, from 0. Rows are written in their order.
    ///   - column: The column, from 0.
    func write(_ text: String, _ row: Int, _ column: Int) throws(Failure) {
        try check(unsafe worksheet_write_string(sheet, lxw_row_t(row), lxw_col_t(column), text, nil))
    }

    /// Writes a finite number.
    func write(_ number: Double, _ row: Int, _ column: Int) throws(Failure) {
        try check(unsafe worksheet_write_number(sheet, lxw_row_t(row), lxw_col_t(column), number, nil))
    }

    /// Writes a truth value.
    func write(_ flag: Bool, _ row: Int, _ column: Int) throws(Failure) {
        try check(unsafe worksheet_write_boolean(sheet, lxw_row_t(row), lxw_col_t(column), flag ? 1 : 0, nil))
    }

    /// Writes a point in time as the number of days since the end of 1899.
    func write(days: Double, _ row: Int, _ column: Int) throws(Failure) {
        try check(unsafe worksheet_write_number(sheet, lxw_row_t(row), lxw_col_t(column), days, date))
    }

    /// Returns whether the workbook is still wanted, for its files, which are gone with it.
    private var mayContinue: () -> Bool {
        { [unowned self] in
            if !isAborted { isAborted = !continues() }
            return !isAborted
        }
    }

    /// Ends the packing of a sheet when the workbook is no longer wanted.
    private func watchCopy(of sheet: UnsafeMutablePointer<lxw_worksheet>) {
        guard let file = unsafe sheet.pointee.file, let watched = try? unsafe SheetFile(file, continues: mayContinue) else {
            return
        }
        copy = watched
        unsafe sheet.pointee.file = unsafe watched.stream
    }

    /// Writes the file. Nothing can be added afterwards.
    ///
    /// - Throws: `Failure` when the disk is full, for example, or the workbook is no longer wanted.
    func close() throws(Failure) {
        guard let open = unsafe book else { return }
        for file in files { try file.flush() }
        unsafe book = nil
        let code = unsafe workbook_close(open)
        files = []
        copy = nil
        guard code == LXW_NO_ERROR, !isAborted else { throw .unwritten }
    }

    /// Throws for a code of the library other than success.
    private func check(_ code: lxw_error) throws(Failure) {
        guard code != LXW_NO_ERROR else { return }
        throw code == LXW_ERROR_WORKSHEET_INDEX_OUT_OF_RANGE ? .tooLarge : .failed(Int(code.rawValue))
    }
}
