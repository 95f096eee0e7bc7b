// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmBackups
import RealmEngine
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest apply`: makes a version of a realm from its shipped commits.
struct ApplyCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Makes any version of a Realm file from its shipped commits.",
        discussion: """
            Without --at and --until it is the newest version, and a file that an earlier `apply` has made is only brought up to it. \
            Otherwise the file is made anew and checked as a whole; one that was there and that `apply` has not made is kept as FILE.replaced-VERSION. No \
            program may have the file open.
            """)

    /// The path of a folder, or the URL of a bucket.
    @Argument(help: "The folder that was shipped to, or s3://BUCKET/PREFIX.")
    var folder: String

    /// The connection to a bucket.
    @OptionGroup var target: BackupTargetOptions

    /// The path of the file that is made or brought up to date.
    @Argument(help: "The .realm file to make, to replace or to bring up to date.")
    var file: String

    /// Under which name it was shipped; nil for that of the file.
    @Option(help: ArgumentHelp("The name of the realm; without it that of the file.", valueName: "NAME"))
    var realm: String?

    /// The version that is wanted; nil for the newest.
    @Option(help: ArgumentHelp("The version to make.", valueName: "VERSION"))
    var at: UInt64?

    /// The time of which the state is wanted; nil for the newest.
    @Option(
        help: ArgumentHelp(
            "Make the newest version that was committed at this time or before, such as 2026-01-31T12:00:00Z.", valueName: "TIME")
    )
    var until: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        try target.check(folder)
        guard at == nil || until == nil else { throw ValidationError("--at and --until cannot be combined") }
        guard until == nil || time != nil else { throw ValidationError("--until takes a time such as 2026-01-31T12:00:00Z") }
        guard realm == nil || realm.flatMap({ RealmName($0) }) != nil else { throw ValidationError("--realm: \(RealmName.rule)") }
    }

    /// The time of `until` in nanoseconds since 1970-01-01 UTC; nil without one, or when it is none.
    private var time: Int64? {
        guard let until, let time = Timestamp(rfc3339: until) else { return nil }
        let (seconds, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? nil : seconds &+ Int64(time.nanoseconds)
    }

    /// Makes the version, and prints its number.
    ///
    /// - Throws: `ExitCode(1)` after a message for damage, `ExitCode(2)` when a file cannot be used or there is no such version.
    func run() throws {
        try reporting {
            guard let name = realm.flatMap({ RealmName($0) }) ?? RealmName(file: file) else {
                throw wrongUse("'\(file)' cannot be served: \(RealmName.rule)")
            }
            let wanted = at.map { ShippedRealm.Target.version($0) } ?? time.map { .until($0) } ?? .newest
            let copy = ShippedCopy(try System.resolved(file), of: try ShippedRealm(name, in: target.store(folder)))
            let outcome = try copy.bring(to: wanted)
            if let kept = outcome.kept { try StandardStreams.output("kept \(kept)\n") }
            try StandardStreams.output("version \(outcome.version)\n")
        }
    }
}
