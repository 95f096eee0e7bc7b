// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP

/// The command `realm-rest open`: shows files that apps may be writing, without locking or changing them.
struct OpenCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Serves files as live views while apps write them.",
        discussion: """
            The files are never locked or changed. It is the same as 'serve FILE --follow'; all options of serve apply.
            """)

    /// The paths of the files to follow; a folder means the realm files in it.
    @Argument(help: "A .realm file, or a folder of them.")
    var paths: [String]

    /// All other options of the server.
    @OptionGroup var options: ServeOptions

    /// Runs the server.
    ///
    /// - Throws: `ExitCode(1)` when the server cannot start.
    func run() throws {
        var configuration = try options.configuration(paths: paths, file: options.config)
        configuration.options.followsFiles = true
        try ServerRun.run(options.serverOptions(configuration))
    }
}
