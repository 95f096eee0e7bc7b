// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest demo`: makes the sample realm, which the program contains, and serves it.
struct DemoCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Makes the sample realm, and serves it.")

    /// The folder that contains the sample realm and that the server uses as its data folder.
    @Option(help: ArgumentHelp("The folder for the realm.", valueName: "DIR"))
    var folder = ".demo"

    /// The path of an export that the realm is made from; nil for the sample of the program.
    @Option(help: ArgumentHelp("An export to make the realm of, in the place of the sample.", valueName: "FILE"))
    var data: String?

    /// The TCP port of the server; 0 lets the system choose one.
    @Option(help: "The port to listen on; 0 picks one.")
    var port = 8080

    /// Whether the sample realm is made again even if it exists.
    @Flag(help: "Make the sample realm again; without this option changes of an earlier demonstration remain.")
    var reset = false

    /// Makes the sample realm if it does not exist, and serves it until a signal arrives.
    ///
    /// - Throws: `ExitCode` when the import or the start of the server fails. A folder that was
    ///   made for the realm is removed then.
    func run() throws {
        // Making the realm starts threads.
        ServerRun.holdSignals()
        let file = folder + "/store.realm"
        if reset || !RealmFiles.exists(file) {
            let isNewFolder = System.makeFolder(folder)
            do {
                let counts = try makeRealm(file)
                StandardStreams.error("made \(file) with \(counts.created) objects")
            } catch {
                if isNewFolder { System.removeEmptyFolder(folder) }
                throw error
            }
        } else {
            StandardStreams.error("\(file) exists already and is served as it is; use --reset to make it again")
        }
        var options = ServerOptions()
        options.port = port
        options.dataFolder = folder
        try ServerRun.run(options)
    }

    /// Makes the realm of the sample, or of the data that are named.
    private func makeRealm(_ file: String) throws -> DataImport.Counts {
        guard let data else { return try DataImport.run(Sample.store, into: file) }
        return try DataImport.run(data, into: file, replaces: reset)
    }
}
