// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP
import RealmStorage

/// `realm-rest export`: everything in a file, as NDJSON.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints everything in a Realm file as NDJSON.")

    @OptionGroup var options: FileOptions

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
