// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints everything a file holds as one JSON document.")

    @OptionGroup var options: FileOptions

    func run() throws {
        try options.reading { snapshot in
            var dump = FileDump(snapshot) { try options.output($0, of: snapshot) }
            try dump.run()
        }
    }
}
