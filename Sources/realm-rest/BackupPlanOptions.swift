// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmBackups
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// The options of the command `serve` about automatic backups.
struct BackupPlanOptions: ParsableArguments {
    /// The time between two rounds of backups; nil for no backups.
    @Option(
        help: ArgumentHelp("Back up the realms that have changed so often, such as 1h; needs --backup-to.", valueName: "TIME"))
    var backupEvery: String?

    /// The path of the folder of backups, or the URL of a bucket.
    @Option(help: ArgumentHelp("The target of these backups: a folder, or s3://BUCKET/PREFIX.", valueName: "FOLDER|s3://…"))
    var backupTo: String?

    /// The connection to a bucket.
    @OptionGroup var target: BackupTargetOptions

    /// The retention of backups, as `BackupRetention` reads it; nil for all.
    @Option(
        help: ArgumentHelp(
            "Keep the newest backup of each of so many hours, days, weeks and months; without it all are kept.",
            valueName: "hourly=24,daily=7,weekly=4,monthly=12"))
    var backupKeep: String?

    /// The path of a file with the encryption key of the backups; nil for the key of each realm.
    @Option(
        help: ArgumentHelp("A file with a key for these backups; without it each has the key of its realm.", valueName: "FILE"))
    var backupKeyFile: String?

    /// Checks which options are given; ArgumentParser calls it before `run`.
    func validate() throws {
        guard (backupEvery == nil) == (backupTo == nil) else {
            throw ValidationError("--backup-every and --backup-to must be given together")
        }
        guard backupEvery != nil || (backupKeep == nil && backupKeyFile == nil && target.parts.isEmpty) else {
            throw ValidationError("the options --backup-… need --backup-every and --backup-to")
        }
    }

    /// The plan as a configuration file would state it; nil without one.
    var setting: JSONValue? {
        guard let backupEvery, let backupTo else { return nil }
        var members = [("every", backupEvery), ("to", backupTo)]
        if let backupKeep { members.append(("keep", backupKeep)) }
        if let backupKeyFile { members.append(("keyFile", backupKeyFile)) }
        members += target.parts.map { ($0.part.rawValue, $0.value) }
        return .object(JSONObject(members.map { ($0.0, .string($0.1)) }))
    }
}
