// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// A source of keys that answers as a test says.
final class JWKSServer: RequestHandler {
    /// Makes the answer to a request.
    typealias Script = @Sendable () -> Response

    private let script: Mutex<Script>
    private let seen = Mutex<[String]>([])
    private let server = Mutex<HTTPServer?>(nil)
    let port: Int

    /// Starts a server; on a port that was free, if that is given.
    init(port: Int = 0, _ script: @escaping Script) throws {
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

    func stop() { server.withLock { $0.take() }?.stop(graceSeconds: 0) }

    /// What it answers from now on.
    func answer(_ script: @escaping Script) { self.script.withLock { $0 = script } }

    /// The targets of the requests so far.
    var targets: [String] { seen.withLock { $0 } }

    func begin(_ request: Request) -> any RequestTask {
        ScriptedTask(request, .accept(bodyLimit: 0)) { [self] in reply(to: $0) }
    }

    private func reply(to request: Request) -> Reply {
        seen.withLock { $0.append(String(decoding: request.target.bytes, as: UTF8.self)) }
        return .now(script.withLock { $0 }())
    }

    /// An answer with a document.
    static func document(_ text: String, _ fields: [HeaderField] = [], status: Int = 200) -> Response {
        let buffer = OutputBuffer()
        buffer.append(text)
        return Response(status: status, type: "application/json", buffer, headers: fields)
    }
}
