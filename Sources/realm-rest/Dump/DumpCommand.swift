// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints everything a file holds as one JSON document.")

    @OptionGroup var options: FileOptions

    func run() throws {
        try reporting {
            var dump = FileDump(try options.open()) { try StandardStreams.output($0) }
            try dump.run()
        }
    }
}
