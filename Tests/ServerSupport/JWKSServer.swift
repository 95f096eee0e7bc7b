// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmFormats
internal import RealmHosting
internal import RealmStorage
internal import Synchronization

/// A source of keys that answers as a test says.
package final class JWKSServer: RequestHandler {
    /// Makes the answer to a request.
    package typealias Script = @Sendable () -> Response

    private let script: Mutex<Script>
    private let seen = Mutex<[String]>([])
    private let server = Mutex<HTTPServer?>(nil)
    package let port: Int

    /// Starts a server; on a port that was free, if that is given.
    package init(port: Int = 0, _ script: @escaping Script) throws {
        self.script = Mutex(script)
        var configuration = HTTPServer.Configuration()
        configuration.daemonThreads = 4
        let socket = try ListeningSocket(host: "127.0.0.1", port: port)
        self.port = socket.port
        let server = HTTPServer(
            socket: socket, configuration: configuration, workers: WorkerPool(Limits()), handler: self)
        try server.start()
        self.server.withLock { $0 = server }
    }

    package func stop() { server.withLock { $0.take() }?.stop(graceSeconds: 0) }

    /// What it answers from now on.
    package func answer(_ script: @escaping Script) { self.script.withLock { $0 = script } }

    /// The targets of the requests so far.
    package var targets: [String] { seen.withLock { $0 } }

    package func begin(_ request: Request) -> any RequestTask {
        ScriptedTask(request, .accept(bodyLimit: 0)) { [self] in reply(to: $0) }
    }

    private func reply(to request: Request) -> Reply {
        seen.withLock { $0.append(String(decoding: request.target.bytes, as: UTF8.self)) }
        return .now(script.withLock { $0 }())
    }

    /// An answer with a document.
    package static func document(_ text: String, _ fields: [HeaderField] = [], status: Int = 200) -> Response {
        let buffer = OutputBuffer()
        buffer.append(text)
        return Response(status: status, type: "application/json", buffer, headers: fields)
    }
}
