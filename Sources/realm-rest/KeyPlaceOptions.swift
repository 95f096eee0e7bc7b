// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmAccess
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The options of `realm-rest keys` that say where the keys are, in the data folder that is named or in that of a
/// configuration, and which roles there are.
struct KeyPlaceOptions: ParsableArguments {
    /// The path of the data folder; nil for that of the configuration.
    @Option(help: ArgumentHelp("The data folder of the server; without it that of the configuration.", valueName: "DIR"))
    var data: String?

    /// The path of the configuration file; nil for that of the working folder.
    @Option(
        help: ArgumentHelp(
            "The configuration file of the server, which has its roles; without it the one of the working folder.",
            valueName: "FILE"))
    var config: String?

    /// Reads or changes the file of keys.
    ///
    /// - Parameter body: Gets the file, and a check of roles by the configuration.
    /// - Throws: `ExitCode(1)` after a message when there is no data folder, or when `body` fails.
    func perform<Result>(_ body: (KeyFile, CredentialCheck) throws(KeyFile.Failure) -> Result) throws -> Result {
        let options = try options()
        guard let folder = options.dataFolder, RealmFiles.isFolder(folder) else {
            StandardStreams.error("\(options.dataFolder ?? ""): there is no such folder")
            throw ExitCode(1)
        }
        do throws(KeyFile.Failure) {
            return try body(KeyFile(dataFolder: folder), CredentialCheck(options))
        } catch {
            var text = error.description
            if case .noAdministrator = error { text += " with --confirm \(CredentialCheck.confirmation)" }
            StandardStreams.error(text)
            throw ExitCode(1)
        }
    }

    /// Whether a configuration defines roles in addition to the built-in ones.
    var hasConfiguration: Bool { file != nil }

    /// The path of the configuration: the stated one, or that of the working folder; nil for none.
    private var file: String? { config ?? (RealmFiles.exists(Configuration.usualFile) ? Configuration.usualFile : nil) }

    /// Returns the options of the configuration, with the data folder that is named.
    private func options() throws -> ServerOptions {
        guard let file else {
            guard let data else {
                StandardStreams.error("name the data folder with --data DIR, or a configuration with --config FILE")
                throw ExitCode(1)
            }
            var options = ServerOptions()
            options.dataFolder = data
            return options
        }
        var options = try ServeOptions.parse([]).configuration(paths: [], file: file, isChecked: false).options
        if let data { options.dataFolder = data }
        guard options.dataFolder != nil else {
            StandardStreams.error("\(file): keys are kept in the data folder, and 'data' names none")
            throw ExitCode(1)
        }
        return options
    }
}
