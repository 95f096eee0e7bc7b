// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP
import RealmStorage

/// `realm-rest import`: reads NDJSON into a file that nobody else has open.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Reads objects into a Realm file, which is made if it is not there.",
        discussion: """
            The data are an export (realm-rest export, or GET …/export), plain or packed with gzip, or lines of objects \
            of one class. Everything is read in one transaction, or nothing.
            """)

    @Argument(help: "A file of NDJSON.")
    var data: String

    @Argument(help: "A .realm file.")
    var file: String

    @Option(name: .customLong("class"), help: "The class of objects that do not tell theirs.")
    var className: String?

    @Flag(help: "Write into objects that are there.")
    var upsert = false

    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    func run() throws {
        try reporting {
            let counts = try DataImport.run(
                data, into: file, key: try keyFile.map { try EncryptionKey(contentsOfFile: $0) }, className: className,
                mode: upsert ? .upsert : .create)
            try StandardStreams.output("created \(counts.created), updated \(counts.updated)\n")
        }
    }
}

/// `realm-rest export`: everything in a file, as NDJSON.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints everything in a Realm file as NDJSON.")

    @OptionGroup var options: FileOptions

    func run() throws {
        try reporting {
            let snapshot = try options.open()
            do {
                try ExportStream.all(of: snapshot, version: String(snapshot.version)).forEachChunk {
                    try StandardStreams.output($0)
                }
            } catch let problem as Problem {
                StandardStreams.error(problem.detail)
                throw ExitCode(1)
            }
        }
    }
}

/// Imports without a server.
enum DataImport {
    struct Counts: Sendable {
        let created: Int
        let updated: Int
    }

    /// Problems are printed; they end the command with status 1. Then everything is as it was before: a new file gets its
    /// name when all is in it, and an import into a file that is there is tried in memory first.
    ///
    /// `replaces`: a file that is there goes when its successor is whole.
    static func run(
        _ data: String, into file: String, key: EncryptionKey? = nil, className: String? = nil, mode: ImportRun.Mode = .create,
        replaces: Bool = false
    ) throws -> Counts {
        do {
            guard let name = RealmName(file: file) else { throw ValidationError("'\(file)' cannot be served: \(RealmName.rule)") }
            let source = try open(data)
            let reader = {
                ImportReader(ImportSource(source), className: className, bounds: JSONBounds(depth: JSONBounds.deepestExport))
            }
            let path = try System.resolved(file)
            let exists = System.entry(atPath: path, followsLink: false) != nil
            if exists, !replaces { return try add(reader, to: path, name, key, mode) }
            return try make(path, name, key) { database in
                try write(reader(), database, mode)
            } whenWhole: {
                if exists { try RealmFiles.delete(path, key: key) }
            }
        } catch let problem as Problem {
            StandardStreams.error(problem.description)
            throw ExitCode(1)
        }
    }

    private static func make(
        _ path: String, _ name: RealmName, _ key: EncryptionKey?, _ fill: (Database) throws -> Counts,
        whenWhole: () throws -> Void
    ) throws -> Counts {
        if System.entry(atPath: path, followsLink: false) != nil { try RealmFiles.requireDeletable(path) }
        try OwnershipLock.check(ofFile: path)
        let made = try NewFile(beside: path)
        let database = Database.open(name: name, store: try FileStore(made, key: key))
        defer { database.close() }
        let counts = try fill(database)
        try whenWhole()
        try made.publish(as: path)
        return counts
    }

    private static func add(
        _ reader: () -> ImportReader, to path: String, _ name: RealmName, _ key: EncryptionKey?, _ mode: ImportRun.Mode
    ) throws -> Counts {
        let options = Database.OpenOptions(key: key, mode: .readWrite)
        let rehearsal = try Database.rehearse(name: name, path: path, options)
        do {
            defer { rehearsal.close() }
            _ = try write(reader(), rehearsal, mode, isDryRun: true)
        }
        let database = try Database.open(name: name, path: path, options)
        do {
            let counts = try write(reader(), database, mode)
            database.close()
            return counts
        } catch {
            database.close(isUndone: true)
            throw error
        }
    }

    private static func write(
        _ reader: ImportReader, _ database: Database, _ mode: ImportRun.Mode, isDryRun: Bool = false
    ) throws -> Counts {
        let outcome = RealmStorage.Monitor<Result<WriteReceipt<Counts>, WriteError>?>(nil)
        database.write(
            WriteRequest(deadline: .distantFuture, isDryRun: isDryRun),
            { session in
                let run = ImportRun(session, mode)
                try run.run(reader)
                return Counts(created: run.created, updated: run.updated)
            }, completion: { result in outcome.broadcast { $0 = result } })
        switch outcome.wait({ $0 }) {
        case .success(let receipt)?: return receipt.value
        case .failure(let error)?:
            guard case .caller(let problem as Problem)? = error.cause else { throw Problem(.internalError, error.detail) }
            throw problem
        case nil: throw Problem(.internalError, "the write was lost")
        }
    }

    /// A file of data, unpacked if it is packed with gzip.
    private static func open(_ path: String) throws -> BodyFile {
        do {
            let file = try BodyFile(reading: path)
            guard try file.looksPacked() else { return file }
            return try file.inflated(inOneOf: [System.temporaryFolder], limit: 1 << 40)
        } catch let error as StorageError {
            throw ValidationError("cannot read '\(path)': \(error)")
        } catch let failure as BodyFile.InflateFailure {
            throw ValidationError("cannot unpack '\(path)': \(failure)")
        }
    }
}
