// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmCalls
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmQuery
import RealmStorage

/// The command `realm-rest query`: prints the objects of a class that match a query.
struct QueryCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Prints the objects of a class that match a query.",
        discussion: "Exit status 0: done; 1: the file is damaged; 2: it cannot be opened; 64: the query is wrong.")

    /// The formats in which results can be printed.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// A JSON array, one JSON object on each line, comma-separated values, or one key on each line.
        case json, ndjson, csv, keys
    }

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// The name of the class without the prefix of its table.
    @Argument(help: "The name of a class.")
    var className: String

    /// The text of the query, which may also sort and limit the results.
    @Argument(help: "A predicate in the Realm Query Language; TRUEPREDICATE for all objects.")
    var query: String

    /// The arguments of the query's placeholders, as a JSON array.
    @Option(help: "A JSON array of the arguments $0, $1, …")
    var args = "[]"

    /// The format of the output.
    @Option(help: "json, ndjson, csv or keys (the keys alone, one a line).")
    var format = Format.json

    /// Runs the query and prints its results while they are found.
    ///
    /// - Throws: `ExitCode(64)` for a wrong class, query or argument, which ends the command
    ///   with status 64.
    func run() throws {
        try options.reading { snapshot in
            guard let table = snapshot.classTable(named: className) else {
                let hint = Suggestion.hint(for: className, in: snapshot.classes.compactMap(\.className))
                throw wrongUse("the file has no class '\(className.truncated)'\(hint)")
            }
            let bound = try bind(to: table, in: snapshot)
            do {
                try print(bound, table, snapshot)
            } catch QueryError.storage(let error) {
                throw error
            }
        }
    }

    /// Parses the query and binds it to the class.
    ///
    /// - Parameters:
    ///   - snapshot: The version of the file.
    /// - Throws: `ExitCode(64)` with the position in the query, or the reason for which an
    ///   argument cannot be used.
    private func bind(to table: Table, in snapshot: Snapshot) throws -> BoundQuery {
        do {
            let list = try JSONParser.parse(args, depthLimit: 64)
            guard let values = list.array else { throw wrongUse("--args must be a JSON array") }
            let arguments = try ArgumentDecoder(snapshot).decode(values)
            return try Query.parse(query).bind(to: table, in: snapshot, arguments: arguments)
        } catch let error as JSONError {
            throw wrongUse("--args: \(error)")
        } catch let problem as Problem {
            throw wrongUse("--args: \(problem.detail)")
        } catch let error as QueryError {
            throw wrongUse("\(error)")
        }
    }

    /// Prints the results.
    ///
    /// Objects are printed while the query is evaluated if their order allows that; otherwise their keys are collected first.
    ///
    /// - Parameters:
    ///   - snapshot: The version of the file.
    private func print(_ bound: BoundQuery, _ table: Table, _ snapshot: Snapshot) throws {
        var output = try QueryOutput(format, table, snapshot) { try options.output($0, of: snapshot) }
        try output.begin()
        if let cursor = try bound.cursor() {
            while let (leaf, rows) = try cursor.next() {
                for index in 0..<leaf.count where rows[index] { try output.write(Row(leaf: leaf, index: index)) }
            }
        } else {
            for key in try bound.execute() {
                if let row = try table.find(key) { try output.write(row) }
            }
        }
        try output.end()
    }
}
