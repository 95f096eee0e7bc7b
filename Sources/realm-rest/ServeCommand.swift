// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import MicroHTTP
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest serve`: serves realms until a signal ends the process.
struct ServeCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves Realm files over HTTP.",
        discussion: """
            Every file is served under its name without '.realm'. The first line on standard output is the address; \
            after that there is one line for each request. SIGTERM or SIGINT ends the server when running requests are \
            done, a second signal at once. SIGHUP reads the configuration file again.
            """)

    /// The paths of the files to serve; a folder means the realm files in it.
    @Argument(help: "A .realm file, or a folder of them.")
    var paths: [String] = []

    /// The user that a new data folder is given to when root starts the server, which then runs as the owner of that folder;
    /// nil to stay who it is.
    @Option(
        help: ArgumentHelp(
            "For containers that start as root: run as the owner of the --data folder. An empty one of root is given to this user first.",
            valueName: "UID"))
    var asOwner: UInt32?

    @OptionGroup var options: ServeOptions

    /// Checks that there is something to serve, and runs the server.
    ///
    /// Without any path and option, the configuration file of the working folder is served.
    ///
    /// - Throws: `ValidationError` when nothing is named, and `ExitCode(1)` when the server
    ///   cannot start.
    func run() throws {
        try becomeOwner()
        let usual = RealmFiles.exists(Configuration.usualFile) ? Configuration.usualFile : nil
        let configuration = try options.configuration(paths: paths, file: options.config ?? (namesNothing ? usual : nil))
        let server = configuration.options
        guard !server.servesNothing else {
            throw ValidationError(
                "Nothing to serve: name a file or folder, or give --data DIR, --memory NAME or --config FILE; "
                    + "without any of them the file \(Configuration.usualFile) of the working folder is served.")
        }
        try ServerRun.run(server, from: configuration)
    }

    /// Becomes the owner of the data folder where that is wanted, before anything is read or made.
    private func becomeOwner() throws {
        guard let asOwner else { return }
        guard let folder = options.data else { throw ValidationError("--as-owner needs --data DIR.") }
        do throws(ProcessOwner.Failure) {
            try ProcessOwner.switchUser(toOwnerOf: folder, givingNewOnesTo: asOwner)
        } catch {
            StandardStreams.error(error.description)
            throw ExitCode(1)
        }
    }

    /// Whether the command line names nothing to serve.
    private var namesNothing: Bool { paths.isEmpty && options.data == nil && options.memory.isEmpty }
}
