// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// A statement of SQL that reads the tables of one version, while it runs.
///
/// `@unchecked Sendable`: one thread at a time uses it, not necessarily always the same one.
package final class SQLQuery: @unchecked Sendable {
    /// The cost of a statement, in addition to the budget of the tables.
    package struct Bounds: Sendable {
        /// The memory of SQLite, in bytes.
        let byteLimit: Int
        /// The length of the text, in bytes.
        let textLimit: Int

        package init(byteLimit: Int, textLimit: Int) {
            self.byteLimit = byteLimit
            self.textLimit = textLimit
        }
    }

    /// A value for a parameter of the statement.
    package enum Argument: Sendable {
        case null
        case int(Int64)
        case double(Double)
        case text(String)
        case bytes([UInt8])
    }

    /// A column of the result.
    package struct Column: Sendable {
        package let name: String
        /// The type of the column of a table; nil for other values.
        package let type: String?
    }

    package let columns: [Column]
    private let tables: LiveTables
    private let bounds: SQLiteBounds
    private let limits: Bounds
    private var statement: SQLiteStatement?

    /// The greatest length of a value, in bytes: that of a property with some room.
    private static let valueLimit = 17 << 20

    /// Prepares a statement. It reads no objects yet.
    ///
    /// - Parameters:
    ///   - text: One statement that reads.
    ///   - arguments: The values of the parameters `?`.
    ///   - explains: Whether the result is the plan of the statement.
    ///   - tables: The tables of a version.
    ///   - limits: The bounds of text and memory.
    /// - Throws: `invalid_query` for a statement that is wrong, or that does more than read.
    package init(
        _ text: String, arguments: [Argument] = [], explains: Bool = false, of tables: LiveTables, limits: Bounds
    ) throws(Problem) {
        self.tables = tables
        self.limits = limits
        let budget = tables.budget
        let bounds = SQLiteBounds(limits.byteLimit) { budget.continues }
        self.bounds = bounds
        guard text.utf8.count <= limits.textLimit else {
            throw .overLimit(.invalidQuery, "a query may have at most \(limits.textLimit) bytes", limit: limits.textLimit)
                .with("parameter", "sql")
        }
        guard !text.utf8.contains(0) else { throw SQLQuery.invalid("the text has the character U+0000", text, at: nil) }
        let text = explains ? "EXPLAIN QUERY PLAN " + text : text
        let made = Result { () throws(Problem) in
            try bounds.within { () throws(Problem) in try SQLQuery.prepare(text, arguments, tables, within: limits) }
        }
        switch made {
        case .success(let statement):
            self.statement = statement
            columns = bounds.within {
                (0..<statement.columnCount).map { Column(name: statement.columnName($0), type: statement.declaredType($0)) }
            }
        case .failure(let problem): throw problem
        }
    }

    deinit { bounds.within { statement = nil } }

    /// Makes the database and the statement.
    private static func prepare(
        _ text: String, _ arguments: [Argument], _ tables: LiveTables, within limits: Bounds
    ) throws(Problem) -> SQLiteStatement {
        let budget = tables.budget
        do {
            let database = try SQLiteDatabase(
                of: tables.makeTables(), valueLimit: min(valueLimit, limits.byteLimit), textLimit: limits.textLimit + 64
            ) { budget.continues }
            guard var statement = try database.prepare(only: text) else {
                throw invalid("the text has no statement", text, at: nil)
            }
            if statement.explainsProgram {
                // The program of a statement has addresses of memory.
                guard let other = try database.prepare(only: explainingPlan(text)) else {
                    throw invalid("no statement", text, at: nil)
                }
                statement = other
            }
            guard statement.onlyReads, statement.columnCount > 0 else { throw SQLQuery.refused(text) }
            try bind(arguments, to: statement)
            return statement
        } catch {
            throw problem(error, tables, limits, of: text)
        }
    }

    /// Returns an `EXPLAIN` statement as one that explains the plan.
    private static func explainingPlan(_ text: String) -> String {
        guard let word = text.firstRange(ofWord: "explain") else { return text }
        return text[..<word.upperBound] + " QUERY PLAN" + text[word.upperBound...]
    }

    private static func bind(_ arguments: [Argument], to statement: SQLiteStatement) throws {
        guard statement.parameterCount == arguments.count else {
            throw Problem.invalidParameter(
                "args", "the statement has \(statement.parameterCount) parameters, and 'args' has \(arguments.count) values")
        }
        for (index, argument) in arguments.enumerated() {
            switch argument {
            case .null: statement.bindNull(index + 1)
            case .int(let number): statement.bind(index + 1, number)
            case .double(let number): statement.bind(index + 1, number)
            case .text(let text): try statement.bind(index + 1, text)
            case .bytes(let bytes): try statement.bind(index + 1, bytes, asText: false)
            }
        }
    }

    // MARK: - Rows

    /// Advances to the next row.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: `deadline_exceeded`, `answer_too_large` for a statement that needs too much memory, `invalid_query` for an
    ///   error that shows only now, or the problem of a damaged file.
    package func next() throws(Problem) -> Bool {
        try bounds.within { () throws(Problem) in
            guard let statement else { return false }
            do {
                return try statement.step()
            } catch {
                throw SQLQuery.problem(error, tables, limits, of: nil)
            }
        }
    }

    /// Calls `body` with each value of the present row, which is valid during the call.
    package func forEachValue<Failure: Error>(_ body: (Int, Value) throws(Failure) -> Void) throws(Failure) {
        try bounds.within { () throws(Failure) in
            guard let statement else { return }
            for column in columns.indices {
                try statement.withValue(column) { (value) throws(Failure) in try body(column, value) }
            }
        }
    }

    // MARK: - Problems

    private static func invalid(_ detail: String, _ text: String?, at offset: Int?) -> Problem {
        let problem = Problem(.invalidQuery, detail).with("parameter", "sql")
        guard let text, let offset else { return problem }
        // Positions count characters, as those of other queries do.
        let position = text.utf8.prefix(offset).reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
        return problem.with("position", .integer(Int64(position)))
    }

    private static func refused(_ text: String?) -> Problem {
        invalid("the statement is refused: SQL only reads, with SELECT, WITH or VALUES", text, at: nil)
    }

    /// Returns the problem of an error of SQLite, or of the error of a table that is behind it.
    private static func problem(_ error: any Error, _ tables: LiveTables, _ limits: Bounds, of text: String?) -> Problem {
        if let stop = tables.budget.stop { return Problem(stop) }
        switch tables.failures.first ?? error {
        case let problem as Problem: return problem
        case let error as StorageError: return Problem(serving: error)
        case let error as QueryError: return Problem(error, in: QueryPartNames(text: "sql"), tables.budget)
        case let refusal as SQLiteDatabase.Refusal: return problem(refusal.failure, refusal, limits, of: text)
        case let failure as SQLiteFailure: return problem(failure, nil, limits, of: text)
        default: return Problem(.internalError, "the statement failed: \(error)")
        }
    }

    private static func problem(
        _ failure: SQLiteFailure, _ refusal: SQLiteDatabase.Refusal?, _ limits: Bounds, of text: String?
    ) -> Problem {
        switch failure {
        case .interrupted: return Problem(.expired)
        case .noMemory, .full:
            return .overLimit(
                .answerTooLarge,
                "the statement needs more than \(limits.byteLimit) bytes of memory (limit sql-bytes), for example to sort",
                limit: limits.byteLimit)
        case .tooLong:
            return .overLimit(.answerTooLarge, "a value of the statement is longer than \(valueLimit) bytes", limit: valueLimit)
        case .unauthorized:
            guard let message = refusal?.message, message.contains("function") else { return refused(text) }
            return invalid("the statement is refused: \(message)", text, at: refusal?.offset)
        default: return invalid(refusal?.message ?? "the statement cannot be run", text, at: refusal?.offset)
        }
    }
}

extension String {
    /// Returns the range of the first word behind spaces and comments, if it is `word` without regard to case.
    fileprivate func firstRange(ofWord word: String) -> Range<String.Index>? {
        var rest = self[...]
        while let first = rest.unicodeScalars.first {
            if first.properties.isWhitespace {
                rest = rest.unicodeScalars.dropFirst().asSubstring
            } else if rest.hasPrefix("--") {
                rest = rest.unicodeScalars.drop { $0 != "\n" }.asSubstring
            } else if rest.hasPrefix("/*") {
                guard let end = rest.dropFirst(2).firstRange(of: "*/") else { return nil }
                rest = rest[end.upperBound...]
            } else {
                break
            }
        }
        guard rest.prefix(word.count).lowercasedASCII == word else { return nil }
        return rest.startIndex..<rest.index(rest.startIndex, offsetBy: word.count)
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var asSubstring: Substring { Substring(self) }
}
