// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Makes files of exports that are complete before they are sent: databases and workbooks.
package enum TableFile {
    /// Writes a database of SQLite into an empty file. The calling thread works until it is done.
    ///
    /// - Parameters:
    ///   - rows: The objects. Their budget ends the work when its client has left.
    ///   - byteLimit: The greatest length of the file.
    ///   - end: The deadline of the work.
    /// - Throws: `answer_too_large` or `insufficient_storage` for too much, or the problem of a damaged
    ///   realm.
    package static func writeSQLite(
        _ rows: StreamRows, to file: BodyFile, byteLimit: Int, until end: Instant = .distantFuture
    ) throws(Problem) {
        let schema = RelationalSchema(rows.parts.map(\.table), in: rows.snapshot, isWhole: rows.isWhole)
        try schema.requireColumns(atMost: SQLiteSink.columnLimit)
        try filling(file, with: rows, byteLimit: byteLimit) { descriptor, grown in
            let database = try SQLiteDatabase(creatingIn: descriptor, byteLimit: byteLimit) {
                // SQLite makes the indexes in one go, which may take longer than a chunk may.
                continues(rows, until: end)
            }
            let sink = try SQLiteSink(schema, in: database, grown: grown)
            let walk = RelationalWalk(schema, rows.snapshot, rows.budget, to: sink)
            try forEachRow(rows, until: end) { row, index in try walk.write(row, of: rows.parts[index].table) }
            try sink.finish()
        }
    }

    /// Writes a workbook of Excel into an empty file, with a sheet for each class. The calling thread works until it is done.
    ///
    /// - Parameters:
    ///   - rows: The objects. Their budget ends the work when its client has left.
    ///   - byteLimit: The greatest length of the file.
    ///   - end: The deadline of the work.
    /// - Returns: Whether a text was truncated, because it is longer than a cell may be.
    /// - Throws: `answer_too_large` for more rows than a sheet takes, `insufficient_storage`, or the problem
    ///   of a damaged realm.
    @discardableResult
    package static func writeWorkbook(
        _ rows: StreamRows, to file: BodyFile, byteLimit: Int, until end: Instant = .distantFuture
    ) throws(Problem) -> Bool {
        let room = try SheetRoom(of: rows.parts.count)
        var isCut = false
        try filling(file, with: rows, byteLimit: byteLimit) { _, grown in
            let sheets = SheetCharge(try file.siblingShare(), byteLimit)
            // Both are released after the workbook has closed its files.
            defer { withExtendedLifetime((room, sheets)) {} }
            let book = try Workbook(path: file.openPath) { continues(rows, until: end) }
            var names = SheetNames()
            var writers: [SheetWriter] = []
            // A sheet is begun before its rows, also for classes without objects.
            func begin(_ index: Int) throws {
                while writers.count <= index {
                    let part = rows.parts[writers.count]
                    writers.append(
                        try SheetWriter(
                            part.plan, named: names.take(part.table.className ?? part.table.name), in: book, rows.snapshot,
                            budget: rows.budget))
                }
            }
            try forEachRow(rows, until: end) { row, index in
                try begin(index)
                try writers[index].write(row)
                try sheets.note(writers[index].rowBytes, in: book)
            }
            try begin(rows.parts.count - 1)
            try rows.budget.check()
            try sheets.charge(book, isComplete: true)
            do throws(Workbook.Failure) {
                try book.close()
            } catch {
                // Work that has ended early looks as if there were no room.
                try beginPart(rows, until: end)
                try rows.budget.check()
                throw error
            }
            try grown()
            isCut = writers.contains(where: \.hasCut)
        }
        return isCut
    }

    /// Calls a function with every object and the index of its class.
    static func forEachRow(_ rows: StreamRows, until end: Instant, _ body: (Row, Int) throws -> Void) throws {
        rows.beginChunk()
        var count = 0
        while true {
            switch try rows.next() {
            case .row(let row, let part):
                rows.budget.beginPart(at: 0)
                try body(row, part)
                count += 1
                if count % 16 == 0 { try beginPart(rows, until: end) }
            case .later: try beginPart(rows, until: end)
            case .end: return
            }
        }
    }

    /// Begins the next part of work that does not come back here, and returns whether it is wanted and has time.
    private static func continues(_ rows: StreamRows, until end: Instant) -> Bool {
        rows.beginChunk()
        return Instant.now() < end && rows.budget.continues
    }

    /// Begins the next part of the work, unless its time is over.
    private static func beginPart(_ rows: StreamRows, until end: Instant) throws(StorageError) {
        guard Instant.now() < end else { throw .stopped(.expired) }
        rows.beginChunk()
    }

    /// Fills a file, and converts errors into a problem.
    static func filling(
        _ file: BodyFile, with rows: StreamRows, byteLimit: Int,
        _ write: (Int32, @escaping () throws(StorageError) -> Void) throws -> Void
    ) throws(Problem) {
        do {
            try file.fill(growing: write)
        } catch let problem as Problem {
            throw problem
        } catch let error as StorageError {
            if case .io(_, let number) = error { throw Problem(keepingExport: number) }
            throw Problem(serving: error)
        } catch let error as QueryError {
            throw Problem(error, parameter: "where")
        } catch let failure as SQLiteFailure {
            throw Problem(exporting: failure, rows.budget, byteLimit)
        } catch Workbook.Failure.unwritten {
            throw Problem(keepingExport: ENOSPC)
        } catch Workbook.Failure.tooLarge {
            throw Problem.overLimit(
                .answerTooLarge,
                "a sheet of Excel has at most \(Workbook.rowLimit - 1) objects and \(Workbook.columnLimit) properties",
                limit: Workbook.rowLimit - 1)
        } catch {
            throw Problem(.internalError, "the export failed: \(error)")
        }
    }
}

/// Charges the temporary files of a workbook to the budget for such files until it is released.
private final class SheetCharge {
    /// The part of the budget; nil where nothing is counted.
    private let share: SpoolRoom.Share?
    /// The greatest number of bytes.
    private let byteLimit: Int
    /// The number of charged bytes.
    private var charged = 0
    /// The number of rows, and of their bytes, since the files were last checked.
    private var (rows, bytes) = (0, 0)
    /// The number of rows, or bytes, after which the files are checked.
    private static let (rowsPerLook, bytesPerLook) = (512, 4 << 20)

    init(_ share: SpoolRoom.Share?, _ byteLimit: Int) {
        self.share = share
        self.byteLimit = byteLimit
    }

    /// Counts a row, and charges the written bytes at intervals.
    func note(_ byteCount: Int, in book: Workbook) throws {
        rows += 1
        bytes += byteCount
        guard rows >= SheetCharge.rowsPerLook || bytes >= SheetCharge.bytesPerLook else { return }
        (rows, bytes) = (0, 0)
        try charge(book)
    }

    /// Charges the written bytes; of a complete workbook also the cost of putting it together.
    func charge(_ book: Workbook, isComplete: Bool = false) throws {
        let count = try book.temporaryByteCount() + (isComplete ? book.copyByteCount() : 0)
        guard count <= byteLimit else {
            throw Problem.overLimit(
                .answerTooLarge, "the sheets of the workbook are larger than \(byteLimit) bytes", limit: byteLimit)
        }
        guard count > charged, let file = book.openFile else { return }
        try share?.grow(by: count - charged, file)
        charged = count
    }
}

extension Problem {
    /// Makes the problem of a database that could not be filled.
    fileprivate init(exporting failure: SQLiteFailure, _ budget: WorkBudget, _ byteLimit: Int) {
        switch failure {
        case .interrupted: self = Problem(budget.stop ?? .expired)
        case .full, .tooLong:
            self = Problem.overLimit(
                .answerTooLarge, "the export is larger than \(byteLimit) bytes, or than the disk has room for", limit: byteLimit)
        // The tables have the constraints of a sound file: different keys, and no null where it is not allowed.
        case .constraint: self = Problem(.fileCorrupt, "the file of this realm is damaged")
        case .malformed, .refused, .unauthorized, .noMemory, .other:
            self = Problem(.internalError, "the database could not be written: \(failure)")
        }
    }

    /// Makes the problem of a file that cannot grow: 503 `overloaded` when the budget for such files is
    /// used up, otherwise 507 `insufficient_storage`.
    fileprivate init(keepingExport number: Int32) {
        self = Problem(spooling: .io(operation: "write", errno: number))
        detail =
            code == .overloaded
            ? "too many long bodies, copies and exports are being processed at the moment; try again later"
            : "there is no room for the export"
    }
}
