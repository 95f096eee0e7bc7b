// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmBackups
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest restore`: puts a backup in the place of a file that no program has open.
struct RestoreCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Puts a backup in the place of a Realm file that no program has open.",
        discussion: """
            The source is a Realm file, or a folder or s3://BUCKET/PREFIX with backups, of which the newest one with the name \
            of the file is taken. It is checked as a whole first. The file that was there is kept as FILE.replaced-VERSION.
            """)

    /// The path of a Realm file, or of a folder of backups, or the URL of a bucket.
    @Argument(help: "A .realm file, a folder of backups, or s3://BUCKET/PREFIX.")
    var source: String

    /// The connection to a bucket.
    @OptionGroup var target: BackupTargetOptions

    /// The path of the file that is replaced, or made.
    @Argument(help: "The .realm file to replace; it is made if it does not exist.")
    var file: String

    /// The path of a file with the encryption key of both files; nil for plain files.
    @Option(help: "A file with the encryption key of both files: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws { try target.check(source) }

    /// Replaces the file, and prints the path of the old file. A crash leaves the old file or the new one.
    ///
    /// - Throws: `ExitCode(1)` after a message for a damaged source, and `ExitCode(2)` when a file cannot
    ///   be opened, is open elsewhere, or has another key than the one that was given.
    func run() throws {
        try reporting {
            let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            let path = try System.resolved(file)
            try Database.requireKnownKey(ofFile: path, key)
            let copies = FileCopies(ofFile: path, key: key)
            let replacement = try FileReplacement(of: path, copies)
            try fill(replacement.file)
            _ = try Database.requireReplacement(
                replacement.file.openPath, Database.OpenOptions(key: key, mode: .readWrite))
            copies.removeSecondName()
            let old = (try? RealmFile(path: path, key: key)).flatMap { try? Snapshot(file: $0) }
            guard let kept = try replacement.swap(keeping: old?.version) else { return }
            try StandardStreams.output("kept \(copies.path(of: kept))\n")
        }
    }

    /// Copies the source into the new file.
    ///
    /// - Throws: `ExitCode(64)` when the folder has no backup of the realm.
    private func fill(_ target: NewFile) throws {
        guard S3Location(source) != nil || RealmFiles.isFolder(source) else {
            return try FileCopy.copyConsistently(of: source, to: target)
        }
        guard let name = RealmName(file: file) else { throw wrongUse("'\(file)' cannot be served: \(RealmName.rule)") }
        let store = try self.target.store(source)
        guard let newest = try store.list(of: name).first else {
            throw wrongUse("'\(source)' has no backup of '\(name)'")
        }
        try store.get(newest, into: target.descriptor, nil)
    }
}
