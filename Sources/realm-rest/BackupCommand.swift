// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmBackups
import RealmEngine
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest backup`: stores a compact copy of a file in a folder of backups or in S3, and
/// removes those that need not be kept.
struct BackupCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Stores a compact copy of a Realm file in a folder of backups, or in S3.",
        discussion: """
            The copy is FOLDER/NAME/TIME-VERSION.realm, where NAME is that of the file without .realm; more copies of the \
            same second and version have a number, as in TIME-VERSION-2.realm. With --keep the other copies of NAME are \
            removed.
            """)

    /// The file and the keys.
    @OptionGroup var options: CopyFileOptions

    /// The path of the folder of backups, or the URL of a bucket.
    @Argument(help: "The folder of backups, which is made if it does not exist, or s3://BUCKET/PREFIX.")
    var folder: String

    /// The connection to a bucket.
    @OptionGroup var target: BackupTargetOptions

    /// The retention of copies, as `BackupRetention` reads it; nil for all.
    @Option(
        help: ArgumentHelp(
            "Keep the newest copy of each of so many hours, days, weeks and months.",
            valueName: "hourly=24,daily=7,weekly=4,monthly=12"))
    var keep: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        try target.check(folder)
        guard keep == nil || retention != nil else {
            throw ValidationError("--keep takes numbers such as hourly=24,daily=7,weekly=4,monthly=12")
        }
    }

    /// Which copies are kept; nil for all.
    private var retention: BackupRetention? { keep.flatMap(BackupRetention.init) }

    /// Stores the copy, prints its path or URL, and removes older ones.
    ///
    /// - Throws: `ExitCode(2)` after a message when the file cannot be opened or the copy cannot be stored.
    func run() throws {
        try reporting {
            let store = try target.store(folder)
            let name = try options.copying { database, copy in
                let snapshot = database.current.snapshot
                let name = BackupName(realm: database.name, time: .now(), version: snapshot.version)
                return try store.add(name) { backend throws(StorageError) in
                    try database.writeCopy(of: snapshot, to: backend, copy)
                }
            }
            // It is always stored, as it was compared with no other one.
            guard let name else { return }
            try StandardStreams.output(store.place(of: name) + "\n")
            guard let retention else { return }
            for old in retention.surplus(of: try store.names(of: name.realm)) { try store.delete(old) }
        }
    }
}
