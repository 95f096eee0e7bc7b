// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmLegacy
internal import RealmPlatform
import RealmStorage

/// The arguments of all commands that read a file: the path, the key and how the file is opened.
struct FileOptions: ParsableArguments {
    /// The path of the file that the command reads.
    @Argument(help: "A .realm file. It is opened for reading only and never changed.")
    var file: String

    /// The path of a file with the encryption key; nil for a plain file.
    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// The binary logarithm of the leaf size of the program that wrote the file.
    ///
    /// All released SDKs write files with the value 8, so the option is not shown in `--help`.
    @Option(help: ArgumentHelp("log2 of the writer's leaf size; 8 for every released SDK.", visibility: .hidden))
    var clusterShift = 8

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard (1...8).contains(clusterShift) else { throw ValidationError("--cluster-shift must be 1 to 8") }
    }

    /// Opens the newest version of the file for reading. No lock is taken, and the file is not
    /// changed. A file of formats 2 to 9 is converted first.
    ///
    /// - Throws: `StorageError` when the key or the file cannot be read; `reporting` prints it.
    func open() throws -> Snapshot {
        let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
        if let converted = try ConvertedFile.open(path: file, key: key, ProgressLine.control(showing: "converting")) {
            return try converted.snapshot(key: key)
        }
        return try Snapshot(file: try RealmFile(path: file, key: key), clusterShift: clusterShift)
    }

    /// Opens a file of formats 2 to 9; nil for one of a later format.
    ///
    /// - Parameter countsRows: As in `LegacyFile.init`.
    /// - Throws: `StorageError` when the key or the file cannot be read.
    func legacyFile(countsRows: Bool = true) throws -> LegacyFile? {
        try LegacyFile.open(
            path: file, key: try keyFile.map { try EncryptionKey(contentsOfFile: $0) }, countsRows: countsRows)
    }

    /// Writes a piece of output that was read from the file.
    ///
    /// - Parameters:
    ///   - bytes: The piece.
    ///   - snapshot: The version that it was read from.
    /// - Throws: `StorageError` when the file has become shorter in the meantime, so that the piece may be wrong; then nothing is
    ///   written.
    func output(_ bytes: [UInt8], of snapshot: Snapshot) throws {
        try snapshot.file.requireWhole()
        try StandardStreams.output(bytes)
    }

    /// Opens the file and runs a closure with it. An error that results from a file that has
    /// become shorter is reported as such.
    ///
    /// - Parameter body: Reads the file and writes the output.
    /// - Throws: `ExitCode` after a message was printed, and other errors of `body` as they
    ///   are.
    func reading(_ body: (Snapshot) throws -> Void) throws {
        try reporting {
            let snapshot = try open()
            do {
                try body(snapshot)
            } catch let error as StorageError {
                try snapshot.file.requireWhole()
                throw error
            }
            try snapshot.file.requireWhole()
        }
    }
}

/// Runs the body of a command. An error of storage becomes one line on standard error and an exit status.
///
/// - Parameter body: The work of the command.
/// - Throws: `ExitCode(1)` for a damaged file, `ExitCode(2)` for one that cannot be opened or
///   read, and other errors as they are.
func reporting(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as StorageError {
        let reason = StandardStreams.printable("\(error)")
        switch error {
        case .corrupt:
            StandardStreams.error("corrupt: \(reason)")
            throw ExitCode(1)
        case .refused:
            var hint = ""
            if case .refused(.encryptionKeyRequired) = error { hint = "; --key-file FILE gives its key" }
            StandardStreams.error("refused: \(reason)\(hint)")
            throw ExitCode(2)
        case .io where error.isFullDisk:
            StandardStreams.error("error: there is no room left for the file to be written (\(reason))")
            throw ExitCode(2)
        case .io, .limit, .stopped:
            StandardStreams.error("error: \(reason)")
            throw ExitCode(2)
        }
    }
}
