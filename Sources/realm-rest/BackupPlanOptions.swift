// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmStorage

/// The options of the command `serve` about the backups that the server makes by itself.
struct BackupPlanOptions: ParsableArguments {
    /// The time between two rounds of backups; nil for no backups.
    @Option(
        help: ArgumentHelp("Back up the realms that have changed so often, such as 1h; needs --backup-to.", valueName: "TIME"))
    var backupEvery: String?

    /// The path of the folder of backups, or the URL of a bucket.
    @Option(help: ArgumentHelp("Where these backups go: a folder, or s3://BUCKET/PREFIX.", valueName: "FOLDER|s3://…"))
    var backupTo: String?

    /// How a bucket is reached.
    @OptionGroup var target: BackupTargetOptions

    /// How many backups are kept, as `BackupRetention` reads it; nil for all.
    @Option(
        help: ArgumentHelp(
            "The newest backup of each of so many hours, days, weeks and months is kept; without it all are.",
            valueName: "hourly=24,daily=7,weekly=4,monthly=12"))
    var backupKeep: String?

    /// The path of a file with the encryption key of the backups; nil for the key of each realm.
    @Option(
        help: ArgumentHelp("A file with a key for these backups; without it each has the key of its realm.", valueName: "FILE"))
    var backupKeyFile: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard (backupEvery == nil) == (backupTo == nil) else {
            throw ValidationError("--backup-every and --backup-to need each other")
        }
        guard backupEvery != nil || (backupKeep == nil && backupKeyFile == nil) else {
            throw ValidationError("--backup-keep and --backup-key-file need --backup-every")
        }
        guard backupEvery.map(BackupPlan.interval) != .some(nil) else {
            throw ValidationError("--backup-every takes 1s to 366d, such as 30m, 1h or 7d")
        }
        guard backupKeep.map(BackupRetention.init) != .some(nil) else {
            throw ValidationError("--backup-keep takes numbers such as hourly=24,daily=7,weekly=4,monthly=12")
        }
        try target.check(backupTo)
    }

    /// Returns the plan; nil without one.
    ///
    /// - Throws: `ExitCode(2)` after a message when the key or a file with credentials cannot be read, and
    ///   `ValidationError` without credentials of a bucket.
    func plan() throws -> BackupPlan? {
        guard let every = backupEvery.flatMap(BackupPlan.interval), let backupTo else { return nil }
        var plan: BackupPlan?
        try reporting {
            plan = BackupPlan(every: every, to: try target.store(backupTo))
            plan?.retention = backupKeep.flatMap(BackupRetention.init)
            plan?.key = try backupKeyFile.map { try EncryptionKey(contentsOfFile: $0) }
        }
        return plan
    }
}
