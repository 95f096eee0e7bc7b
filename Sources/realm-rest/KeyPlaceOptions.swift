// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
internal import RealmStorage

/// The options of `realm-rest keys` that say where the keys are: in the data folder that is named, or in that of a
/// configuration.
struct KeyPlaceOptions: ParsableArguments {
    /// The path of the data folder; nil for that of the configuration.
    @Option(help: ArgumentHelp("The data folder of the server.", valueName: "DIR"))
    var data: String?

    /// The path of the configuration file; nil for that of the working folder.
    @Option(
        help: ArgumentHelp(
            "The configuration file of the server; without it and --data the one of the working folder.", valueName: "FILE"))
    var config: String?

    /// Checks that only one place is named; ArgumentParser calls it before `run`.
    func validate() throws {
        guard data == nil || config == nil else { throw ValidationError("--data and --config exclude each other") }
    }

    /// Reads or changes the file of keys.
    ///
    /// - Throws: `ExitCode(1)` after a message when there is no data folder, or when `body` fails.
    func perform<Result>(_ body: (KeyFile) throws(KeyFile.Failure) -> Result) throws -> Result {
        let folder = try folder()
        do throws(KeyFile.Failure) {
            return try body(KeyFile(dataFolder: folder))
        } catch {
            StandardStreams.error(error.description)
            throw ExitCode(1)
        }
    }

    /// Returns the path of the data folder.
    private func folder() throws -> String {
        var folder = data
        if folder == nil {
            let usual = RealmFiles.exists(Configuration.usualFile) ? Configuration.usualFile : nil
            guard let file = config ?? usual else {
                StandardStreams.error("name the data folder with --data DIR, or a configuration with --config FILE")
                throw ExitCode(1)
            }
            let configuration = try ServeOptions.parse([]).configuration(paths: [], file: file, isChecked: false)
            folder = configuration.options.dataFolder
            guard folder != nil else {
                StandardStreams.error("\(file): keys are kept in the data folder, and 'data' names none")
                throw ExitCode(1)
            }
        }
        guard let folder, RealmFiles.isFolder(folder) else {
            StandardStreams.error("\(folder ?? ""): there is no such folder")
            throw ExitCode(1)
        }
        return folder
    }
}
