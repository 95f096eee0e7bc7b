// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage
import RealmVerify

/// The command `realm-rest stats`: shows what the bytes of a file are there for.
struct StatsCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows what the bytes of a file are there for: classes, properties, indexes, free space, large values.",
        discussion: """
            Reads files of formats 2 to 24 as they are, encrypted ones, and damaged ones as far as they can be read. Every byte of the file \
            is counted once. Exit status 0: everything was read; 1: the file is damaged, and what could not be read is named; 2: it \
            cannot be opened.
            """)

    /// The file and its key.
    @OptionGroup var options: FileOptions

    /// The form of the output.
    @Option(help: "text (a table) or json.")
    var format = StatsFormat.text

    /// Prints the sizes.
    ///
    /// - Throws: `ExitCode(1)` when not everything could be read, `ExitCode(2)` when the file cannot be opened.
    func run() throws {
        try reporting {
            let key = try options.keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            let file = try RealmFile(path: options.file, key: key, accepting: FileHeader.knownFormats)
            var extent = SizeReport.Options()
            extent.clusterShift = options.clusterShift
            extent.ownsFile = true
            let report = try SizeReport(measuring: file, extent)
            try file.requireWhole()
            switch format {
            case .text: try StandardStreams.output(Array(StatsText(report, name: options.file).text.utf8))
            case .json: try StandardStreams.output(StatsCommand.json(report))
            }
            if !report.isComplete { throw ExitCode(1) }
        }
    }

    /// Returns the document with a final newline.
    private static func json(_ report: SizeReport) -> [UInt8] {
        var writer = JSONWriter()
        report.write(to: &writer)
        writer.newLine()
        return writer.bytes
    }
}

/// The forms of the output.
enum StatsFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
