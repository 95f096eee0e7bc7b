// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import MicroHTTP
package import RealmAccess
package import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import RealmTestSupport
package import Synchronization

/// A handler for tests of the daemon alone: paths say what to do.
package final class ScriptedHandler: RequestHandler {
    package struct End: Sendable {
        package let status: Int
        package let bytesSent: Int
        package let isComplete: Bool
    }

    package let ends = Mutex<[End]>([])
    package let producers = Mutex<[Weak]>([])
    /// How many jobs of `/work` were begun.
    package let works = Atomic<Int>(0)
    package let bodyLimit: Int
    /// The promises of `/together`, in the order of the requests.
    package let promises = Mutex<[any ResponsePromise]>([])

    package struct Weak: Sendable {
        package weak let producer: NumberProducer?
        package init(_ producer: NumberProducer) { self.producer = producer }
    }

    package init(bodyLimit: Int = 1 << 20) { self.bodyLimit = bodyLimit }

    package func begin(_ request: Request) -> any RequestTask {
        let isRefused = request.target.path == "/refused"
        return ScriptedTask(
            request,
            isRefused ? .refuse(Response(Problem(.forbidden, "refused"), id: request.id)) : .accept(bodyLimit: bodyLimit),
            isForItsClient: true,
            ending: { [self] status, bytesSent, isComplete in
                ends.withLock { $0.append(End(status: status, bytesSent: bytesSent, isComplete: isComplete)) }
            }
        ) { [self] in reply(to: $0) }
    }

    private func reply(to request: Request) -> Reply {
        switch request.target.path {
        case "/echo": return .now(text(String(decoding: request.body.bytes, as: UTF8.self)))
        case "/work":
            return .work { [self] in
                works.add(1, ordering: .relaxed)
                Threads.sleep(seconds: 0.05)
                return text("worked")
            }
        case "/stuck": return .later { _ in }
        case "/later":
            return .later { [self] promise in
                Threads.spawn("test") {
                    Threads.sleep(seconds: 0.05)
                    promise.complete(self.text("later"))
                    promise.complete(self.text("twice"))
                }
            }
        case "/thread": return .now(text("\(pthread_self())"))
        case "/slow":
            Threads.sleep(seconds: 0.5)
            return .now(text("slow"))
        case "/together": return .later { [self] promise in promises.withLock { $0.append(promise) } }
        case "/at-once": return .later { [self] promise in promise.complete(text("at once")) }
        case "/stream": return stream(count: 200_000, failAt: nil)
        case "/endless": return stream(count: .max, failAt: nil)
        case "/broken": return stream(count: .max, failAt: 50_000)
        case "/none": return .now(Response(status: 204))
        case "/same": return .now(Response(status: 304, headers: [HeaderField("ETag", "\"x\"")]))
        default: return .now(text(request.methodName + " " + request.target.path))
        }
    }

    private func stream(count: Int, failAt: Int?) -> Reply {
        let producer = NumberProducer(count: count, failAt: failAt)
        producers.withLock { $0.append(Weak(producer)) }
        var response = Response(status: 200, headers: [HeaderField("Content-Type", "text/plain")])
        response.body = .stream(producer)
        return .now(response)
    }

    /// Answers the requests of `/together` that have come, one after the other, on the calling thread.
    package func answerTogether() {
        let waiting = promises.withLock { promises in
            defer { promises = [] }
            return promises
        }
        for promise in waiting { promise.complete(text("together")) }
    }

    private func text(_ text: String) -> Response {
        let buffer = OutputBuffer()
        buffer.append(text)
        return Response(type: "text/plain", buffer)
    }

}

/// Numbers from 0, one a line.
package final class NumberProducer: ChunkProducer {
    package struct Broken: Error {}

    private let next = Mutex(0)
    private let count: Int
    private let failAt: Int?

    package init(count: Int, failAt: Int?) {
        self.count = count
        self.failAt = failAt
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        try next.withLock { next in
            while buffer.count < Streaming.chunkBytes {
                guard next < count else { return true }
                if next == failAt { throw Broken() }
                buffer.append(decimal: Int64(next))
                buffer.append(UInt8(ascii: "\n"))
                next += 1
            }
            return false
        }
    }

    package static func text(count: Int) -> [UInt8] {
        let buffer = OutputBuffer()
        for number in 0..<count {
            buffer.append(decimal: Int64(number))
            buffer.append(UInt8(ascii: "\n"))
        }
        return buffer.array
    }
}

/// A daemon with a scripted handler for the time of a test.
package final class ScriptedServer {
    package let handler: ScriptedHandler
    package let server: HTTPServer
    package var port: Int { server.socket.port }

    /// What a test changes of a server.
    package struct Options {
        package var limits = Limits()
        package var daemonThreads = HTTPServer.Configuration().daemonThreads
        package var tls: TLSStore?
    }

    package init(bodyLimit: Int = 1 << 20, _ change: (inout Options) -> Void = { _ in }) throws {
        var options = Options()
        change(&options)
        var configuration = HTTPServer.Configuration()
        configuration.limits = options.limits.http
        configuration.daemonThreads = options.daemonThreads
        configuration.tls = options.tls
        handler = ScriptedHandler(bodyLimit: bodyLimit)
        server = HTTPServer(
            socket: try ListeningSocket(host: "127.0.0.1", port: 0), configuration: configuration,
            workers: WorkerPool(options.limits), handler: handler)
        try server.start()
    }

    deinit { server.stop(graceSeconds: 0) }
}
