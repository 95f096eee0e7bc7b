// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import MicroHTTP
internal import RealmCalls
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// Imports data into a file without a server, for the commands `import` and `demo`.
enum DataImport {
    /// The numbers of objects that an import has written.
    struct Counts: Sendable {
        /// The number of objects that were created.
        let created: Int
        /// The number of existing objects that were written.
        let updated: Int
    }

    /// Imports a file of NDJSON as a unit.
    ///
    /// If it fails, everything is as it was before: a new file gets its name only when it is complete, and an import into an
    /// existing file is tried in memory first. The call blocks until the data are durable.
    ///
    /// - Parameters:
    ///   - data: The path of the data, plain or compressed with gzip.
    ///   - file: The path of the realm's file, which is made if it does not exist.
    ///   - key: The encryption key of the file; nil for a plain one.
    ///   - className: The class of objects that do not state theirs; nil if all do.
    ///   - mode: Whether existing objects are written, or are an error.
    ///   - replaces: Whether an existing file is replaced by a new one, which happens when that
    ///     is complete.
    /// - Throws: `ValidationError` for paths that cannot be used, and `ExitCode(1)` after a
    ///   problem of the data was printed.
    static func run(
        _ data: String, into file: String, key: EncryptionKey? = nil, className: String? = nil, mode: ImportRun.Mode = .create,
        replaces: Bool = false
    ) throws -> Counts {
        try reportingProblems {
            let name = try name(of: file)
            let source = try open(data)
            let reader = {
                ImportReader(ImportSource(source), className: className, bounds: JSONBounds(depth: JSONBounds.deepestExport))
            }
            let path = try System.resolved(file)
            let exists = System.entry(atPath: path, followsLink: false) != nil
            if exists, !replaces { return try add(reader, to: path, name, key, mode) }
            return try make(path, named: name, key: key) { database in
                try write(reader(), database, mode)
            } whenWhole: {
                if exists { try RealmFiles.delete(path, key: key) }
            }
        }
    }

    /// Makes a file of a sample that the program contains, in the place of any that exists.
    ///
    /// - Parameters:
    ///   - file: The path of the realm's file.
    /// - Throws: `ValidationError` for a path that cannot be used, and `ExitCode(1)` after a problem was printed.
    static func run(_ sample: Sample, into file: String) throws -> Counts {
        try reportingProblems {
            let name = try name(of: file)
            let path = try System.resolved(file)
            let exists = System.entry(atPath: path, followsLink: false) != nil
            return try make(path, named: name, key: nil) { database in
                try write(try sample.reader(), database, .create)
            } whenWhole: {
                if exists { try RealmFiles.delete(path, key: nil) }
            }
        }
    }

    /// Returns the name under which a file would be served.
    ///
    /// - Throws: `ValidationError` when it has none.
    private static func name(of file: String) throws -> RealmName {
        guard let name = RealmName(file: file) else {
            throw ValidationError("'\(StandardStreams.printable(file))' cannot be served: \(RealmName.rule)")
        }
        return name
    }

    /// Runs an import, and prints a problem of it.
    ///
    /// - Throws: `ExitCode(1)` in the place of a problem.
    private static func reportingProblems(_ run: () throws -> Counts) throws -> Counts {
        do {
            return try run()
        } catch let problem as Problem {
            StandardStreams.error(problem.description)
            throw ExitCode(1)
        }
    }

    /// Makes a new file with the imported data.
    ///
    /// The file has no name until it is complete.
    ///
    /// - Parameters:
    ///   - path: The resolved path of the file.
    ///   - name: The name of the realm, for messages.
    ///   - key: The encryption key; nil for a plain file.
    ///   - fill: Writes the data into the new realm.
    ///   - whenWhole: Called when all data are durable and the file is about to get its name.
    private static func make(
        _ path: String, named name: RealmName, key: EncryptionKey?, _ fill: (Database) throws -> Counts,
        whenWhole: () throws -> Void
    ) throws -> Counts {
        if System.entry(atPath: path, followsLink: false) != nil { try RealmFiles.requireDeletable(path) }
        try OwnershipLock.check(ofFile: path)
        let made = try NewFile(nextTo: path)
        let database = Database.open(name: name, store: try FileStore(made, key: key))
        defer { database.close() }
        let counts = try fill(database)
        try whenWhole()
        try made.publish(as: path)
        return counts
    }

    /// Adds data to an existing file, after a dry run over a copy in memory has succeeded.
    ///
    /// - Parameters:
    ///   - reader: Makes a reader of the data, once for the dry run and once for the import.
    ///   - path: The resolved path of the file.
    ///   - name: The name of the realm, for messages.
    ///   - key: The encryption key; nil for a plain file.
    ///   - mode: Whether existing objects are written, or are an error.
    private static func add(
        _ reader: () -> ImportReader, to path: String, _ name: RealmName, _ key: EncryptionKey?, _ mode: ImportRun.Mode
    ) throws -> Counts {
        let options = Database.OpenOptions(key: key, mode: .readWrite)
        let dryRun = try Database.dryRun(name: name, path: path, options)
        do {
            defer { dryRun.close() }
            _ = try write(reader(), dryRun, mode, isDryRun: true)
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

    /// Runs an import as one write, and waits for its result.
    ///
    /// - Parameters:
    ///   - database: The realm that is written.
    ///   - mode: Whether existing objects are written, or are an error.
    ///   - isDryRun: Whether everything is rolled back at the end.
    /// - Throws: `Problem` with the line of the data that cannot be imported.
    private static func write(
        _ reader: ImportReader, _ database: Database, _ mode: ImportRun.Mode, isDryRun: Bool = false
    ) throws -> Counts {
        let outcome = RealmPlatform.Monitor<Result<WriteReceipt<Counts>, WriteError>?>(nil)
        database.write(
            WriteRequest(deadline: .distantFuture, isDryRun: isDryRun),
            { session in
                // No other work waits for this process, or for its memory.
                session.byteLimit = .max
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

    /// Opens a file of data, and decompresses it into a temporary file if it is compressed with gzip.
    ///
    /// - Returns: The file, positioned at its start.
    /// - Throws: `ValidationError` when it cannot be read or decompressed, or is larger than 1
    ///   TiB after decompression.
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
