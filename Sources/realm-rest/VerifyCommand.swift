// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
import RealmLegacy
internal import RealmPlatform
import RealmStorage
internal import RealmVerify

/// The command `realm-rest verify`: checks the structure of a whole file.
struct VerifyCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a whole file: space, tables, objects, links, collections, indexes.",
        discussion:
            "A file of formats 2 to 9 is checked in its own terms. Prints a report as JSON. Exit status 0: sound; 1: damaged; 2: cannot be opened."
    )

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// Prints the report to standard output.
    ///
    /// - Throws: `ExitCode(1)` when the report has errors, and 2 when the file cannot be
    ///   opened.
    func run() throws {
        if try checkLegacyFile() { return }
        try options.reading { snapshot in
            let report = snapshot.verify()
            try options.output(text(report, fileFormat: snapshot.fileFormat), of: snapshot)
            if !report.isClean { throw ExitCode(1) }
        }
    }

    /// Checks a file of formats 2 to 9, which is not converted for that; returns whether the file is one.
    ///
    /// - Throws: As `run`.
    private func checkLegacyFile() throws -> Bool {
        var isLegacy = false
        try reporting {
            guard let file = try options.legacyFile() else { return }
            isLegacy = true
            let report = try file.verify()
            try file.file.requireWhole()
            try StandardStreams.output(text(report, fileFormat: file.format))
            if !report.isClean { throw ExitCode(1) }
        }
        return isLegacy
    }

    /// Returns the report as JSON.
    ///
    /// - Parameters:
    ///   - report: The errors, warnings and counts.
    /// - Returns: The bytes of the document, with a final newline.
    private func text(_ report: VerifyReport, fileFormat: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ok")
        writer.bool(report.isClean)
        writer.key("format")
        writer.int(fileFormat)
        list("errors", report.errors, &writer)
        list("warnings", report.warnings, &writer)
        writer.key("stats")
        write(report.statistics, &writer)
        writer.endObject()
        writer.newLine()
        return writer.bytes
    }

    /// Writes a member with an array of texts.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - lines: The texts.
    ///   - writer: Receives the JSON.
    private func list(_ name: String, _ lines: [String], _ writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for line in lines { writer.string(line) }
        writer.endArray()
    }

    /// Writes the counts of the report as a JSON object.
    ///
    /// - Parameters:
    ///   - statistics: The counts of nodes, bytes, tables, objects, links and index entries.
    ///   - writer: Receives the JSON.
    private func write(_ statistics: VerifyReport.Statistics, _ writer: inout JSONWriter) {
        let members: [(String, UInt64)] = [
            ("nodes", UInt64(statistics.nodes)), ("usedBytes", statistics.usedBytes), ("freeBytes", statistics.freeBytes),
            ("freeBlocks", UInt64(statistics.freeBlocks)), ("unaccountedBytes", statistics.unaccountedBytes),
            ("logicalSize", statistics.logicalSize), ("tables", UInt64(statistics.tables)),
            ("objects", UInt64(statistics.objects)), ("tombstones", UInt64(statistics.tombstones)),
            ("links", UInt64(statistics.links)), ("indexEntries", UInt64(statistics.indexEntries)),
        ]
        writer.beginObject()
        for (name, number) in members {
            writer.key(name)
            writer.int(number)
        }
        writer.endObject()
    }
}
