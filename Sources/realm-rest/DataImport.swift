// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP
import RealmStorage

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
            return try make(path, named: name, key: key) { database in
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
        _ path: String, named name: RealmName, key: EncryptionKey?, _ fill: (Database) throws -> Counts,
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
