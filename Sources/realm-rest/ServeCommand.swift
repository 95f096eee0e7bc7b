// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Logging
import RealmHTTP
import RealmStorage

/// `realm-rest serve`: answers until it is told to end.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves Realm files over HTTP.",
        discussion: """
            Every file is served under its name without '.realm'. The first line on standard output is the address; \
            after that there is one line for each request. SIGTERM or SIGINT ends the server when running requests are \
            done, a second signal at once.
            """)

    @Argument(help: "A .realm file, or a folder of them.")
    var paths: [String] = []

    @OptionGroup var options: ServeOptions

    func run() throws {
        guard !paths.isEmpty || options.data != nil || !options.memory.isEmpty else {
            throw ValidationError("Nothing to serve: name a file or folder, or give --data DIR or --memory NAME.")
        }
        try ServerRun.run(try options.serverOptions(paths: paths))
    }
}
