// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// Lets the option `--format` accept the names of the forms of comparisons.
extension ComparisonFormat: ExpressibleByArgument {}

/// The command `realm-rest diff`: prints what differs between two files.
struct DiffCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Prints the objects, values and parts of the schema that differ between two files.",
        discussion: """
            Objects are paired by their primary keys. Those without one are paired by their contents, or with --object-keys by their \
            object keys, as is right for a file and its copy or backup. docs/comparing.md describes the lines. Exit status 0: equal; 1: \
            different; 2: a file is damaged or cannot be read; 64: wrong arguments.
            """)

    /// The greatest number of bytes of an object in the output.
    private static let longestObject = 64 << 20

    @Argument(help: "The .realm file to compare from. It is opened for reading only and never changed.")
    var from: String

    @Argument(help: "The .realm file to compare to.")
    var to: String

    /// The path of a file with the key of both files; nil for plain files.
    @Option(help: "A file with the encryption key of both files: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// The path of a file with the key of the first file; nil for that of both.
    @Option(help: "A file with the encryption key of the first file.")
    var keyFileA: String?

    /// The path of a file with the key of the second file; nil for that of both.
    @Option(help: "A file with the encryption key of the second file.")
    var keyFileB: String?

    @Option(name: .customLong("class"), help: "Compares this class alone; may be given several times.")
    var classes: [String] = []

    @Option(help: "text, ndjson, json or html.")
    var format = ComparisonFormat.text

    @Flag(help: "Pairs objects without a primary key by their object keys, as for a file and its copy.")
    var objectKeys = false

    @Flag(help: "Prints a draft of the migration from the first schema to the second, as the body of a request.")
    var schema = false

    /// The binary logarithm of the leaf size of the program that wrote the files.
    @Option(help: ArgumentHelp("log2 of the writer's leaf size; 8 for every released SDK.", visibility: .hidden))
    var clusterShift = 8

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard (1...8).contains(clusterShift) else { throw ValidationError("--cluster-shift must be 1 to 8") }
        if schema, !classes.isEmpty { throw ValidationError("--schema cannot be combined with --class") }
    }

    /// Compares the files and prints their differences.
    ///
    /// - Throws: `ExitCode(1)` when they differ, `ExitCode(2)` after a message when a file is damaged or cannot be read.
    func run() throws {
        var isEqual = true
        do {
            try reporting {
                let (first, second) = (try open(from, keyFileA), try open(to, keyFileB))
                isEqual = schema ? try draft(first, second) : try compare(first, second)
            }
        } catch let code as ExitCode {
            throw code == .validationFailure ? code : ExitCode(2)
        }
        if !isEqual { throw ExitCode(1) }
    }

    private func open(_ path: String, _ ownKeyFile: String?) throws -> Snapshot {
        var options = FileOptions()
        options.file = path
        options.keyFile = ownKeyFile ?? keyFile
        options.clusterShift = clusterShift
        return try options.open()
    }

    /// Prints the draft of a migration, and returns whether no step is needed.
    private func draft(_ first: Snapshot, _ second: Snapshot) throws -> Bool {
        let draft = MigrationDraft(from: RealmSchema(first), to: RealmSchema(second))
        let buffer = OutputBuffer()
        var indenter = JSONIndenter()
        indenter.append(Array(draft.document.json.utf8), to: buffer)
        indenter.end(in: buffer)
        try output(buffer.array, first, second)
        return draft.isEmpty
    }

    /// Prints the differences, and returns whether there are none.
    private func compare(_ first: Snapshot, _ second: Snapshot) throws -> Bool {
        let budget = WorkBudget()
        budget.byteLimit = DiffCommand.longestObject
        do {
            let stream = try ComparisonStream(
                from: ComparedVersion(first, file: from), to: ComparedVersion(second, file: to),
                ComparisonOptions(
                    identity: objectKeys ? .objectKey : .contents, classes: classes.isEmpty ? nil : classes),
                format: format, budget: budget)
            try stream.forEachChunk { try output($0, first, second) }
            return stream.counts.isEqual
        } catch let problem as Problem {
            throw wrongUse(problem.detail)
        } catch let error as StorageError {
            try first.file.requireWhole()
            try second.file.requireWhole()
            throw error
        }
    }

    /// Writes a piece of output, unless one of the files has become shorter in the meantime.
    private func output(_ bytes: [UInt8], _ first: Snapshot, _ second: Snapshot) throws {
        try first.file.requireWhole()
        try second.file.requireWhole()
        try StandardStreams.output(bytes)
    }
}
