// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP

/// `realm-rest demo`: makes the sample realm and serves it.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Makes the sample realm from its data, and serves it.")

    @Option(help: ArgumentHelp("The folder for the realm.", valueName: "DIR"))
    var folder = ".demo"

    @Option(help: ArgumentHelp("The data: an export.", valueName: "FILE"))
    var data = "demo/store.ndjson.gz"

    @Option(help: "The port to listen on; 0 picks one.")
    var port = 8080

    @Flag(help: "Begin with the data of the sample again; without it what was changed in an earlier demonstration stays.")
    var reset = false

    func run() throws {
        let file = folder + "/store.realm"
        if reset || !RealmFiles.exists(file) {
            let isNewFolder = unsafe mkdir(folder, 0o700) == 0
            do {
                let counts = try DataImport.run(data, into: file, replaces: reset)
                StandardStreams.error("made \(file) with \(counts.created) objects")
            } catch {
                if isNewFolder { unsafe rmdir(folder) }
                throw error
            }
        } else {
            StandardStreams.error("\(file) is there already and is served as it is; --reset makes it anew")
        }
        var options = ServerOptions()
        options.port = port
        options.dataFolder = folder
        try ServerRun.run(options)
    }
}
