// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
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

    func run() throws {
        mkdir(folder, 0o755)
        let file = folder + "/store.realm"
        // Every demonstration begins with the same data.
        unlink(file)
        let counts = try DataImport.run(data, into: file)
        StandardStreams.error("made \(file) with \(counts.created) objects")
        var options = RealmServer.Options()
        options.port = port
        options.dataFolder = folder
        try ServerRun.run(options)
    }
}
