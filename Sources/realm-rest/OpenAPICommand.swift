// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The command `realm-rest openapi`: prints the OpenAPI description of the HTTP interface.
///
/// The file in the folder `openapi` is its output.
struct OpenAPICommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "openapi", abstract: "Prints the description of the HTTP interface.")

    /// Whether the description is printed as JSON.
    @Flag(help: "Print JSON instead of YAML.")
    var json = false

    /// Prints the description to standard output. No server is needed.
    func run() throws {
        let document = OpenAPIDocument.api(version: Build.version)
        try StandardStreams.output(json ? document.json + "\n" : document.yaml)
    }
}
