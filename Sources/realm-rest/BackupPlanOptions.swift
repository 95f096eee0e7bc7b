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

    /// The path of the folder of backups.
    @Option(help: ArgumentHelp("The folder of these backups.", valueName: "FOLDER"))
    var backupTo: String?

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
        guard backupTo?.contains("://") != true else { throw ValidationError("--backup-to takes the path of a folder") }
    }

    /// Returns the plan; nil without one.
    ///
    /// - Throws: `ExitCode(2)` after a message when the key cannot be read.
    func plan() throws -> BackupPlan? {
        guard let every = backupEvery.flatMap(BackupPlan.interval), let folder = backupTo else { return nil }
        var plan = BackupPlan(every: every, to: FolderBackupStore(folder))
        plan.retention = backupKeep.flatMap(BackupRetention.init)
        try reporting { plan.key = try backupKeyFile.map { try EncryptionKey(contentsOfFile: $0) } }
        return plan
    }
}
