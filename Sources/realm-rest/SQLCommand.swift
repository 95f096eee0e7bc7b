// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import RealmCalls
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest sql`: runs statements of SQL over a file.
struct SQLCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Runs a statement of SQL that reads the classes of a file as tables.",
        discussion:
            "Without a statement it runs those of standard input, each up to a semicolon at the end of a line. Exit status 0: done; 1: the file is damaged; 2: it cannot be opened; 64: a statement is wrong."
    )

    /// The formats in which results can be printed.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// Comma-separated values, one JSON object on each line, or one JSON document.
        case csv, ndjson, json
    }

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// The text of the statement; nil to read statements.
    @Argument(help: "A statement: SELECT, WITH, VALUES or EXPLAIN QUERY PLAN.")
    var statement: String?

    /// The values of the parameters of the statement, as a JSON array.
    @Option(help: "A JSON array of the values of the parameters ?.")
    var args = "[]"

    /// The format of the output.
    @Option(help: "csv, ndjson (one JSON object a line) or json (one document).")
    var format = Format.csv

    /// The memory that SQLite may take.
    @Option(help: ArgumentHelp("The greatest number of bytes that SQLite may take, for example to sort.", valueName: "bytes"))
    var sqlBytes = 1 << 30

    /// The longest statement, in bytes.
    private static let longestText = 1 << 20

    /// Runs the statement, or those of standard input.
    ///
    /// - Throws: `ExitCode(64)` for a wrong statement or argument.
    func run() throws {
        try options.reading { snapshot in
            if let statement { return try run(statement, in: snapshot) }
            let asks = isatty(STDIN_FILENO) == 1
            var text = ""
            while true {
                if asks { try StandardStreams.output(text.isEmpty ? "sql> " : "...> ") }
                guard let line = readLine() else { break }
                text += line + "\n"
                guard text.utf8.count <= SQLCommand.longestText else {
                    throw wrongUse("a statement has at most \(SQLCommand.longestText) bytes")
                }
                guard line.last(where: { !$0.isWhitespace }) == ";" else { continue }
                try runNext(&text, in: snapshot, continues: asks)
            }
            if text.contains(where: { !$0.isWhitespace }) { try runNext(&text, in: snapshot, continues: asks) }
        }
    }

    /// Runs a statement that was read. Prompts continue after an error, scripts end.
    private func runNext(_ text: inout String, in snapshot: Snapshot, continues: Bool) throws {
        defer { text = "" }
        do {
            try run(text, in: snapshot)
        } catch let code as ExitCode {
            guard continues else { throw code }
        }
    }

    /// Runs a statement and prints its rows while they are found.
    private func run(_ text: String, in snapshot: Snapshot) throws {
        do {
            let list = try JSONParser.parse(args, depthLimit: 64)
            guard let values = list.array else { throw wrongUse("--args must be a JSON array") }
            let budget = WorkBudget()
            let query = try SQLQuery(
                text, arguments: try SQLQuery.Argument.list(values, in: snapshot),
                of: LiveTables(of: snapshot, budget: budget),
                limits: .init(byteLimit: sqlBytes, textLimit: SQLCommand.longestText))
            try print(query, budget, snapshot)
        } catch let error as JSONError {
            throw wrongUse("--args: \(error)")
        } catch let problem as Problem {
            throw wrongUse(problem.description)
        }
    }

    private func print(_ query: SQLQuery, _ budget: WorkBudget, _ snapshot: Snapshot) throws {
        let buffer = OutputBuffer(capacity: 1 << 16)
        var rows = SQLRows(query, Representation(), budget: budget)
        if format == .json { return try printDocument(query, rows, snapshot) }
        let form = format == .csv ? SQLRows.Form.csv : .ndjson
        rows.begin(form, in: buffer)
        while try query.next() {
            try rows.writeLine(form, to: buffer)
            if buffer.count > 1 << 16 { try flush(buffer, snapshot) }
        }
        try flush(buffer, snapshot)
    }

    private func printDocument(_ query: SQLQuery, _ rows: SQLRows, _ snapshot: Snapshot) throws {
        var rows = rows
        let buffer = OutputBuffer(capacity: 1 << 16)
        var writer = JSONWriter(buffer)
        writer.beginObject()
        writer.key("columns")
        rows.writeColumns(to: &writer)
        writer.key("rows")
        writer.beginArray()
        while try query.next() {
            try rows.writeArray(to: &writer)
            if buffer.count > 1 << 16 { try flush(buffer, snapshot) }
        }
        writer.endArray()
        writer.endObject()
        writer.newLine()
        try flush(buffer, snapshot)
    }

    private func flush(_ buffer: OutputBuffer, _ snapshot: Snapshot) throws {
        try buffer.forEachPiece { try options.output($0, of: snapshot) }
        buffer.removeAll()
    }
}
