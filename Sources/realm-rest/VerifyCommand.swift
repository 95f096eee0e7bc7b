// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP
import RealmStorage

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a whole file: space, tables, objects, links, collections, indexes.",
        discussion: "Prints a report as JSON. Exit status 0: sound; 1: damaged; 2: cannot be opened.")

    @OptionGroup var options: FileOptions

    func run() throws {
        try options.reading { snapshot in
            let report = snapshot.verify()
            try options.output(text(report, snapshot), of: snapshot)
            if !report.isClean { throw ExitCode(1) }
        }
    }

    private func text(_ report: VerifyReport, _ snapshot: Snapshot) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ok")
        writer.bool(report.isClean)
        writer.key("format")
        writer.int(snapshot.fileFormat)
        list("errors", report.errors, &writer)
        list("warnings", report.warnings, &writer)
        writer.key("stats")
        write(report.statistics, &writer)
        writer.endObject()
        writer.newLine()
        return writer.bytes
    }

    private func list(_ name: String, _ lines: [String], _ writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for line in lines { writer.string(line) }
        writer.endArray()
    }

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
