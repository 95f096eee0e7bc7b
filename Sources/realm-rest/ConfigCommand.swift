// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest config`: checks and shows the configuration of a server.
struct ConfigCommand: ParsableCommand {
    /// The name of the command, its description for `--help` and its commands.
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks and shows the configuration of a server.",
        subcommands: [CheckCommand.self, ShowCommand.self])

    /// The command `realm-rest config check FILE`.
    struct CheckCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Checks a configuration file as the start of a server would.")

        /// The path of the file.
        @Argument(help: "A configuration file in YAML.")
        var file: String

        /// Prints that the file can be used, or why it cannot.
        ///
        /// - Throws: `ExitCode(1)` after the error was printed.
        func run() throws {
            let configuration = try ServeOptions.parse([]).configuration(paths: [], file: file)
            guard !configuration.options.servesNothing else {
                StandardStreams.error("\(file): nothing to serve: expected 'data', 'files', 'realms' or 'memory'")
                throw ExitCode(1)
            }
            try StandardStreams.output("\(file): the configuration is valid\n")
        }
    }

    /// The command `realm-rest config show [FILE] [options of serve]`.
    struct ShowCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Prints every setting in force, and whether it comes from a file, the command line, or is the default.")

        /// The path of the file; nil for the one of the working folder, if there is one.
        @Argument(help: "A configuration file in YAML.")
        var file: String?

        /// The options of `serve`, which win over the file.
        @OptionGroup var options: ServeOptions

        /// Prints a line `name = value  # origin` for each setting.
        ///
        /// - Throws: `ExitCode(1)` after the error was printed, when the file cannot be used.
        func run() throws {
            let usual = RealmFiles.exists(Configuration.usualFile) ? Configuration.usualFile : nil
            let configuration = try options.configuration(paths: [], file: file ?? options.config ?? usual, isChecked: false)
            for line in configuration.description { try StandardStreams.output(line + "\n") }
        }
    }
}
