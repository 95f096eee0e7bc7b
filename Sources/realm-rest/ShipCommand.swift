// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmBackups
import RealmEngine
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest ship`: stores the commits of a file that were not shipped before.
struct ShipCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "ship", abstract: "Ships the changes of a Realm file to a folder, or to S3.",
        discussion: """
            The first time it stores the file, later what has changed since, if that is less than half of it. `realm-rest apply` makes \
            any version that was shipped again. `serve --ship` ships every commit automatically. Encrypted files are not shipped.
            """)

    /// The path of the file.
    @Argument(help: "The .realm file.")
    var file: String

    /// The path of a folder, or the URL of a bucket.
    @Argument(help: "The folder, which is made if it does not exist, or s3://BUCKET/PREFIX.")
    var folder: String

    /// The connection to a bucket.
    @OptionGroup var target: BackupTargetOptions

    /// Under which name it is stored; nil for that of the file.
    @Option(help: ArgumentHelp("The name of the realm; without it that of the file.", valueName: "NAME"))
    var realm: String?

    /// The retention of bases, as `BackupRetention` reads it; nil for all.
    @Option(
        help: ArgumentHelp(
            "Keep the newest base of each of so many hours, days, weeks and months, with the commits after it.",
            valueName: "hourly=24,daily=7,weekly=4,monthly=12"))
    var keep: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        try target.check(folder)
        guard keep == nil || keep.flatMap(BackupRetention.init) != nil else {
            throw ValidationError("--keep takes numbers such as hourly=24,daily=7,weekly=4,monthly=12")
        }
        guard realm == nil || realm.flatMap({ RealmName($0) }) != nil else { throw ValidationError("--realm: \(RealmName.rule)") }
    }

    /// Ships the file, and prints the path or URL of the stored object.
    ///
    /// - Throws: `ExitCode(2)` after a message when the file cannot be opened or the store refuses.
    func run() throws {
        try reporting {
            guard let name = realm.flatMap({ RealmName($0) }) ?? RealmName(file: file) else {
                throw wrongUse("'\(file)' cannot be served: \(RealmName.rule)")
            }
            let store = try target.store(folder)
            let database = try open(name)
            defer { database.close() }
            let shipping = OfflineShipping(name, to: store)
            switch try shipping.ship(database.current.snapshot) {
            case .unchanged: try StandardStreams.output("nothing has changed\n")
            case .shipped(let shipped): try StandardStreams.output(store.place(of: shipped) + "\n")
            }
            if let retention = keep.flatMap(BackupRetention.init) { try shipping.prune(retention) }
        }
    }

    /// Opens the file for reading.
    ///
    /// - Throws: `StorageError`; for a file that looks encrypted one that says that such files are not shipped.
    private func open(_ name: RealmName) throws -> Database {
        do {
            return try Database.open(name: name, path: file, Database.OpenOptions(mode: .readOnly))
        } catch StorageError.refused(.encryptionKeyRequired) {
            throw StorageError.refused(
                .unsuitable("the file is encrypted, or no Realm file; commits of encrypted files are not shipped"))
        }
    }
}
