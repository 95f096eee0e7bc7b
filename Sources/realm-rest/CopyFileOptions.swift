// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmPlatform
import RealmStorage

/// The arguments of commands that copy a file: the file, its key and that of the copy.
struct CopyFileOptions: ParsableArguments {
    /// The path of the file that is copied.
    @Argument(help: "A .realm file, which no other program has open for writing. It is not changed.")
    var file: String

    /// The path of a file with the encryption key; nil for a plain file.
    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// The path of a file with the encryption key of the copy; nil for the key of the original.
    @Option(help: "A file with another key for the copy.")
    var newKeyFile: String?

    @Flag(name: .customLong("no-key"), help: "Make a plain copy of an encrypted file.")
    var isPlain = false

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard newKeyFile == nil || !isPlain else { throw ValidationError("--new-key-file and --no-key cannot be combined") }
    }

    /// The name under which the file would be served.
    ///
    /// - Throws: `ExitCode(64)` for a file whose name no realm can have.
    func realmName() throws -> RealmName {
        guard let name = RealmName(file: file) else { throw wrongUse("'\(file)' cannot be served: \(RealmName.rule)") }
        return name
    }

    /// Returns the key of the copy; nil for a plain one.
    ///
    /// - Parameter key: The key of the original.
    func newKey(insteadOf key: EncryptionKey?) throws -> EncryptionKey? {
        isPlain ? nil : try newKeyFile.map { try EncryptionKey(contentsOfFile: $0) } ?? key
    }

    /// Opens the file for reading, and passes it to a closure with the options of the copy.
    ///
    /// - Returns: The result of `body`.
    /// - Throws: `StorageError` when the file cannot be opened, or is open for writing in another program.
    func copying<Outcome>(_ body: (Database, Database.CopyOptions) throws -> Outcome) throws -> Outcome {
        let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
        let newKey = try newKey(insteadOf: key)
        var options = Database.OpenOptions(key: key, mode: .readOnly)
        options.control = ProgressLine.control(showing: "opening")
        let database = try Database.open(name: try realmName(), path: file, options)
        defer { database.close() }
        return try body(database, Database.CopyOptions(key: newKey))
    }
}
