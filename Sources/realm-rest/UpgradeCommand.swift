// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmLegacy
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest upgrade`: makes a file of the present format of an older one.
struct UpgradeCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Makes a Realm file of format 24 of one of any older format.",
        discussion: """
            With --to the file is not changed. Without it, the new file takes its place, after a copy FILE.vN.backup was made; a program \
            that has the file open must be ended first. Files of formats 2 to 9 are converted: row n of a class becomes the object with \
            key n. Changes and losses are printed, one line each. Exit status 0: done; 1: the file is damaged; \
            2: it cannot be opened.
            """)

    /// The file and the keys.
    @OptionGroup var options: CopyFileOptions

    /// The path of the new file; nil to replace the old one.
    @Option(help: ArgumentHelp("The new file, which must not exist; without it the file itself is upgraded.", valueName: "FILE"))
    var to: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard to != nil || options.newKeyFile == nil && !options.isPlain else {
            throw ValidationError("the key changes in a new file only: add --to FILE")
        }
    }

    /// Writes the new file, which gets its name when it is complete, and prints the outcome.
    ///
    /// - Throws: `ExitCode(2)` after a message when a file cannot be opened or there is one at the target, and `ExitCode(1)` for a
    ///   damaged file.
    func run() throws {
        try reporting {
            guard let to else { return try upgradeInPlace() }
            let path = try System.resolved(to)
            guard !RealmFiles.exists(path) else { throw wrongUse("there is a file at '\(to)' already") }
            let key = try options.keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            guard let file = try LegacyFile.open(path: options.file, key: key) else { return try upgrade(to: path) }
            let report = try file.convert(
                toFile: path, key: try options.newKey(insteadOf: key), ProgressLine.control(showing: "converting"))
            try output(from: report.fromFormat, "written to \(to)", UpgradeCommand.lines(report))
        }
    }

    /// Upgrades the file itself, after a copy was made. A signal that ends the process does so when the work has stopped and the copy of
    /// an unchanged file is gone.
    private func upgradeInPlace() throws {
        var signals = ServerRun.holdCommandSignals()
        defer { unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
        var opening = Database.OpenOptions(
            key: try options.keyFile.map { try EncryptionKey(contentsOfFile: $0) }, mode: .readWrite)
        opening.upgradesInPlace = true
        opening.control = ProgressLine.control(showing: "upgrading") { [signals] in !ServerRun.isPending(anyOf: signals) }
        let format = try FileGlance(path: options.file, key: opening.key).format
        let database = try Database.open(name: try options.realmName(), path: options.file, opening)
        let outcome = database.originalName.map { "a copy is kept as \($0)" } ?? "nothing to do"
        let lines = database.conversion.map(UpgradeCommand.lines) ?? UpgradeCommand.lines(database.current.snapshot)
        database.close()
        try output(from: format, outcome, lines)
    }

    /// Copies a file of a later format, which upgrades it.
    private func upgrade(to path: String) throws {
        try options.copying { database, copy in
            let snapshot = database.current.snapshot
            let file = try NewFile(nextTo: path)
            try database.writeCopy(of: snapshot, to: file.backend(), copy)
            try file.publish(as: path)
            try output(from: snapshot.fileFormat, "written to \(to ?? path)", UpgradeCommand.lines(snapshot))
        }
    }

    /// Prints the outcome.
    ///
    /// - Parameters:
    ///   - format: The format of the file before; nil, or 0 in an empty file, when there was none.
    ///   - outcome: The outcome for the file.
    ///   - contents: Additional lines.
    private func output(from format: Int?, _ outcome: String, _ contents: [String]) throws {
        let (old, new) = (format ?? 0, FileHeader.writtenFormat)
        let change = old == 0 || old == new ? "format \(new)" : "format \(old) to \(new)"
        let lines = ["\(options.file): \(change), \(outcome)"] + contents
        try StandardStreams.output(lines.map(StandardStreams.printable).joined(separator: "\n") + "\n")
    }

    /// Returns a line about a version.
    private static func lines(_ snapshot: Snapshot) -> [String] {
        [counts(of: snapshot.classes.count, snapshot.classes.reduce(0) { $0 + $1.count })]
    }

    private static func lines(_ report: ConversionReport) -> [String] {
        var lines = [counts(of: report.classes.count, report.objectCount)]
        for one in report.classes {
            let objects = InfoText.count(one.objectCount, "object", "objects")
            lines.append("\(one.name): \(objects), \(InfoText.count(one.propertyCount, "property", "properties"))")
        }
        for note in report.notes {
            let place = [note.className, note.property].compactMap(\.self).joined(separator: ".")
            lines.append("\(note.kind.rawValue)\(place.isEmpty ? "" : " " + place) (\(note.count)): \(note.text)")
        }
        let dropped = report.noteCount - report.notes.count
        if dropped > 0 { lines.append("\(InfoText.count(dropped, "more note is", "more notes are")) not listed") }
        return lines
    }

    private static func counts(of classes: Int, _ objects: Int) -> String {
        "\(InfoText.count(classes, "class", "classes")), \(InfoText.count(objects, "object", "objects"))"
    }
}
