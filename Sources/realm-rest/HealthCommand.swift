// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP

/// Asks a running server for `/readyz`: the health check of the container image.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Exit status 0 when a server on this machine is ready.")

    @Option(help: "The port to ask.")
    var port: UInt16 = 8080

    func run() throws {
        guard let status = HealthProbe.statusLine(port: port), status.contains(" 200 ") else { throw ExitCode(1) }
    }
}
