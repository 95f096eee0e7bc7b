// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmQuery
import RealmStorage

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Prints the objects of a class that match a query.",
        discussion: "Exit status 0: done; 1: the file is damaged; 2: it cannot be opened; 64: the query is wrong.")

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, ndjson, csv, keys
    }

    @OptionGroup var options: FileOptions

    @Argument(help: "The name of a class.")
    var className: String

    @Argument(help: "A predicate in the Realm Query Language; TRUEPREDICATE for all objects.")
    var query: String

    @Option(help: "A JSON array of the arguments $0, $1, …")
    var args = "[]"

    @Option(help: "json, ndjson, csv or keys (the keys alone, one a line).")
    var format = Format.json

    func run() throws {
        try options.reading { snapshot in
            guard let table = snapshot.classTable(named: className) else {
                throw ValidationError("the file has no class '\(className)'")
            }
            let bound = try bind(to: table, in: snapshot)
            do {
                try print(bound, table, snapshot)
            } catch QueryError.storage(let error) {
                throw error
            }
        }
    }

    private func bind(to table: Table, in snapshot: Snapshot) throws -> BoundQuery {
        do {
            let list = try JSONParser.parse(args, depthLimit: 64)
            guard let values = list.array else { throw ValidationError("--args is a JSON array") }
            let arguments = try ArgumentDecoder(snapshot).decode(values)
            return try Query.parse(query).bind(to: table, in: snapshot, arguments: arguments)
        } catch let error as JSONError {
            throw ValidationError("--args: \(error)")
        } catch let problem as Problem {
            throw ValidationError("--args: \(problem.detail)")
        } catch let error as QueryError {
            throw ValidationError("\(error)")
        }
    }

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
