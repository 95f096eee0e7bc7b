// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import MicroHTTP
internal import RealmCalls
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmQuery
import RealmStorage

/// The command `realm-rest export`: writes the objects of a file in one of the formats of exports, of
/// which `import` can read NDJSON.
struct ExportCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes everything in a Realm file, or the objects of a class, in one of several formats.",
        discussion: """
            The formats are \(ExportFormat.list); csv, ejson and geojson need --class. Without --output everything goes to \
            standard output. docs/formats.md lists the conversion of each type.
            """)

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    @Option(help: "The format; ndjson can be imported again.")
    var format = ExportFormat.ndjson

    /// The class whose objects are exported; nil for everything.
    @Option(name: .customLong("class"), help: "Exports the objects of this class alone.")
    var className: String?

    /// The text of the predicate; nil for all objects.
    @Option(name: .customLong("where"), help: "A predicate in the Realm Query Language, for the class.")
    var predicate: String?

    /// The arguments of the placeholders in the predicate, as a JSON array.
    @Option(help: "A JSON array of the arguments $0, $1, …")
    var args = "[]"

    @Option(help: "Key paths with commas, each with - in front for the descending order.")
    var sort: String?

    /// The path to the location for GeoJSON.
    @Option(help: "The path to the location for geojson; by default the first one.")
    var geometry: String?

    /// The path of the file that is written; nil for standard output.
    @Option(name: [.customShort("o"), .long], help: "Writes to this file, which must not exist.")
    var output: String?

    /// Checks which options fit together; ArgumentParser calls it before `run`.
    func validate() throws {
        guard className == nil else { return }
        if format.needsClass { throw ValidationError("--format \(format.rawValue) needs --class") }
        if predicate != nil || sort != nil { throw ValidationError("--where and --sort need --class") }
    }

    /// Writes the export while the file is read.
    ///
    /// - Throws: `ExitCode(1)` after a problem of the file was printed.
    func run() throws {
        try options.reading { snapshot in
            do {
                try write(try producer(snapshot), of: snapshot)
            } catch let problem as Problem {
                StandardStreams.error(problem.detail)
                throw ExitCode(1)
            }
        }
    }

    /// Writes the output of a producer to the requested place.
    private func write(_ producer: any ChunkProducer, of snapshot: Snapshot) throws {
        guard let output else { return try producer.forEachChunk { try options.output($0, of: snapshot) } }
        guard !RealmFiles.exists(output) else { throw wrongUse("there is a file at '\(output)' already") }
        let file = try NewFile(nextTo: output)
        var offset = 0
        try producer.forEachChunk { chunk in
            try ByteView.withBytes(of: chunk) { view throws(StorageError) in
                try System.write(file.descriptor, view, at: offset)
            }
            offset += chunk.count
        }
        // A file that has become shorter in the meantime gives no export that looks whole.
        try snapshot.file.requireWhole()
        try file.publish(as: output)
    }

    private func producer(_ snapshot: Snapshot) throws -> any ChunkProducer {
        let version = String(snapshot.version)
        let rows = try rows(snapshot)
        switch format {
        case .ndjson, .json, .csv: return ExportStream(rows, version: version, format: format)
        case .postgresql: return try SQLScriptStream(rows, version: version)
        case .ejson: return LineStream(mongo: rows)
        case .geojson: return try GeoJSONStream(rows, geometry: geometry)
        case .sqlite, .xlsx:
            let file = try BodyFile(in: output.map(System.folder) ?? System.temporaryFolder)
            if format == .sqlite {
                try TableFile.writeSQLite(rows, to: file, byteLimit: 1 << 46)
            } else {
                let isCut = try TableFile.writeWorkbook(rows, to: file, byteLimit: 1 << 46)
                if isCut { StandardStreams.error("texts longer than a cell takes are cut in the workbook") }
            }
            return FileProducer(file)
        }
    }

    private func rows(_ snapshot: Snapshot) throws -> StreamRows {
        guard let className else { return try StreamRows(allOf: snapshot) }
        guard let table = snapshot.classTable(named: className) else {
            let hint = Suggestion.hint(for: className, in: snapshot.classes.compactMap(\.className))
            throw wrongUse("the file has no class '\(className.truncated)'\(hint)")
        }
        do {
            guard let values = try JSONParser.parse(args, depthLimit: 64).array else {
                throw ValidationError("--args must be a JSON array")
            }
            let keys = (sort ?? "").split(separator: ",").map { term in
                ResultOrder.Key(path: String(term.drop { $0 == "-" }), isAscending: !term.hasPrefix("-"))
            }
            return try StreamRows(
                try predicate.map { try Query.parse($0) } ?? .all, of: table,
                .init(arguments: try ArgumentDecoder(snapshot).decode(values), order: ResultOrder(sort: keys)), in: snapshot)
        } catch let error as JSONError {
            throw ValidationError("--args: \(error)")
        } catch let error as QueryError {
            throw ValidationError("\(error)")
        }
    }
}

/// Lets the format be named on the command line.
extension ExportFormat: ExpressibleByArgument {}
