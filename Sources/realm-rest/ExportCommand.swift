// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmStorage

/// The command `realm-rest export`: prints all objects of a file as NDJSON, which `import` can
/// read.
struct ExportCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints everything in a Realm file as NDJSON.")

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// Prints the export to standard output, while the file is read.
    ///
    /// - Throws: `ExitCode(1)` after a problem of the file was printed.
    func run() throws {
        try reporting {
            let snapshot = try options.open()
            do {
                try ExportStream.all(of: snapshot, version: String(snapshot.version)).forEachChunk {
                    try StandardStreams.output($0)
                }
            } catch let problem as Problem {
                StandardStreams.error(problem.detail)
                throw ExitCode(1)
            }
        }
    }
}
