// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP

struct OpenAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi", abstract: "Prints the description of the HTTP interface.")

    @Flag(help: "Print JSON instead of YAML.")
    var json = false

    func run() throws {
        let document = OpenAPIDocument.api(version: Build.version)
        try StandardStreams.output(json ? document.json + "\n" : document.yaml)
    }
}
