// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmLegacy
internal import RealmPlatform
internal import RealmStorage

/// The command `realm-rest dump`: prints the complete contents of a file as JSON.
struct DumpCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints everything a file holds as one JSON document.")

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// Prints the dump to standard output, while the file is read.
    func run() throws {
        try options.reading { snapshot in
            // Of a file that was converted to be read, the document describes the file itself.
            let original = try options.legacyFile(countsRows: false)
            var dump = FileDump(snapshot, of: original) { try options.output($0, of: snapshot) }
            try dump.run()
        }
    }
}
