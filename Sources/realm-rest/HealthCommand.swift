// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import MicroHTTP
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// The command `realm-rest health`: requests `/readyz` of a server on this machine.
///
/// The container image uses it as its health check, because it contains no other HTTP client.
struct HealthCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Exit status 0 when a server on this machine is ready.")

    /// The advice for a port without plain HTTP.
    private static let advice = "ask a port without TLS, such as that of --admin"

    /// The TCP port of the server on the loopback address.
    @Option(help: "The port to ask.")
    var port: UInt16 = 8080

    /// Sends the request, and ends with exit status 0 for the response 200.
    ///
    /// - Throws: `ExitCode(1)` after a message for any other response, and when there is none.
    func run() throws {
        switch HealthProbe.ask(port: port) {
        case .answered(let status):
            guard !status.contains(" 200 ") else { return }
            StandardStreams.error("the server at port \(port) is not ready: \(status)")
        case .encrypted: StandardStreams.error("port \(port) speaks TLS; \(HealthCommand.advice)")
        case .silent: StandardStreams.error("port \(port) does not answer plain HTTP; if it speaks TLS, \(HealthCommand.advice)")
        case .refused: StandardStreams.error("no server listens at port \(port) of 127.0.0.1")
        }
        throw ExitCode(1)
    }
}
