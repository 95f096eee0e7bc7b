// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmAccess
@testable import RealmBackups
import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization

/// A server that answers requests to a bucket as a test says, with the failures that a real one has on its bad days.
final class FaultyS3: RequestHandler {
    /// Makes the answer to a request, such as `PUT /bucket/key`, that came so many times before.
    typealias Script = @Sendable (_ line: String, _ earlier: Int) -> Response

    private let script: Script
    private let seen = Mutex<[String]>([])
    private let server = Mutex<HTTPServer?>(nil)

    /// Runs a closure with a server and a store in it. The server is stopped afterwards.
    static func run(_ script: @escaping Script, _ body: (FaultyS3, S3BackupStore) throws -> Void) throws {
        let handler = FaultyS3(script)
        let configuration = HTTPServer.Configuration()
        let server = HTTPServer(
            socket: try ListeningSocket(host: "127.0.0.1", port: 0), configuration: configuration,
            workers: WorkerPool(Limits()), handler: handler)
        try server.start()
        defer { server.stop(graceSeconds: 0) }
        guard let location = S3Location("s3://bucket/files"), let endpoint = S3Endpoint("http://127.0.0.1:\(server.socket.port)")
        else { return }
        let credentials = S3Credentials.Source.fixed(S3Credentials(id: "id", secret: "hunter2"))
        try body(handler, S3BackupStore(S3BackupStore.Options(location, endpoint, region: "us-east-1", credentials)))
    }

    private init(_ script: @escaping Script) { self.script = script }

    /// The requests so far: method and target.
    var lines: [String] { seen.withLock { $0 } }

    func begin(_ request: Request) -> any RequestTask {
        ScriptedTask(request, .accept(bodyLimit: 64 << 20)) { [self] in reply(to: $0) }
    }

    private func reply(to request: Request) -> Reply {
        let line = request.methodName + " " + String(decoding: request.target.bytes, as: UTF8.self)
        let earlier = seen.withLock { lines in
            defer { lines.append(line) }
            return lines.count { $0 == line }
        }
        return .now(script(line, earlier))
    }

    /// An answer with an error as S3 has it.
    static func error(_ status: Int, _ code: String) -> Response {
        answer(status, "<Error><Code>\(code)</Code><Message>said so</Message></Error>")
    }

    static func answer(_ status: Int = 200, _ text: String = "", _ fields: [HeaderField] = []) -> Response {
        let buffer = OutputBuffer()
        buffer.append(text)
        return Response(status: status, type: "application/xml", buffer, headers: fields)
    }
}
