// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmCalls
import RealmEngine
import RealmFormats
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest copy`: copies a file without its free space, under another key if that is
/// wanted, or with a part of its classes.
struct CopyCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a Realm file as a compact one: with another key or none, or a part of its classes.")

    /// The file and the keys.
    @OptionGroup var options: CopyFileOptions

    /// The path of the copy.
    @Argument(help: "The new file, which must not exist.")
    var target: String

    /// The names of the classes that the copy has, separated by commas; nil for all of them.
    @Option(
        help: ArgumentHelp(
            "The classes that the copy has, with the embedded classes that they need. Links to others are left out.",
            valueName: "CLASS,CLASS"))
    var classes: String?

    /// The name of the former version that is copied; nil for the newest.
    @Option(
        help: ArgumentHelp(
            "Copies a former version that the file has as a whole: its number, previous, or a count such as -1.",
            valueName: "VERSION"))
    var at: String?

    /// Whether the tables of a sync client are left out.
    @Flag(help: "Leave out the tables of the sync client.")
    var withoutSyncTables = false

    /// Writes the copy, which gets its name when it is complete.
    ///
    /// - Throws: `ExitCode(2)` after a message when a file cannot be opened or there is one at the target.
    func run() throws {
        try reporting {
            try options.copying { database, copy in
                let path = try System.resolved(target)
                guard !RealmFiles.exists(path) else { throw wrongUse("there is a file at '\(target)' already") }
                var copy = copy
                let snapshot = try version(of: database)
                copy.classes = try subset(of: snapshot)
                copy.isWithoutSyncTables = withoutSyncTables
                let file = try NewFile(nextTo: path)
                try database.writeCopy(of: snapshot, to: file.backend(), copy)
                try file.publish(as: path)
            }
        }
    }

    /// Returns the version that is copied.
    ///
    /// - Throws: `ExitCode(2)` after a message for a version that the file does not have, `ExitCode(64)` for another name.
    private func version(of database: Database) throws -> Snapshot {
        guard let at else { return database.current.snapshot }
        guard let name = VersionName(at) else {
            throw wrongUse("--at takes the number of a version, previous, or a count such as -1")
        }
        do throws(Problem) {
            return try name.version(of: database).snapshot
        } catch {
            StandardStreams.error(error.detail)
            throw ExitCode(2)
        }
    }

    /// Returns the classes of the copy; nil for all of them.
    ///
    /// - Throws: `ExitCode(64)` for a name that is no class.
    private func subset(of snapshot: Snapshot) throws -> ClassSubset? {
        guard let names = classes?.split(separator: ",").map(String.init) else { return nil }
        guard !names.isEmpty else { throw wrongUse("--classes takes names of classes, separated by commas") }
        do throws(ClassSubset.UnknownClass) {
            return try ClassSubset(names, of: snapshot)
        } catch {
            let hint = Suggestion.hint(for: names[error.position], in: snapshot.classes.compactMap(\.className))
            throw wrongUse("there is no class '\(names[error.position].truncated)'\(hint)")
        }
    }
}
