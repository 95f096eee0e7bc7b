// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmHTTP
internal import RealmHosting
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The handler without a daemon: requests are handed to it as objects, so that thousands of files can be tried in
/// the time in which sockets serve a few.
package final class LocalServer: Sendable {
    private let state: ServerState
    private let handler: RequestDispatcher

    package struct Answer: Sendable {
        package let status: Int
        package let headers: [HeaderField]
        package let bytes: [UInt8]
        package var text: String { String(decoding: bytes, as: UTF8.self) }

        /// The value of the first header field of a name, spelt as the server spells it.
        package func header(_ name: String) -> String? { headers.first { $0.name.description == name }?.text }
    }

    package init() {
        var options = ServerOptions()
        options.limits.readSeconds = 5
        state = ServerState(
            catalog: Catalog(), options: LiveOptions(options), rules: AccessRules(hosts: HostPolicy(boundAddress: "127.0.0.1")))
        handler = RequestDispatcher(state)
    }

    /// Opens a file under a name; the error when it is not served.
    package func open(_ name: String, path: String, _ options: Database.OpenOptions) -> StorageError? {
        guard let realm = RealmName(name) else { return .limit("'\(name)' is not a name of a realm") }
        guard (try? state.catalog.reserve(realm)) != nil else { return .limit("'\(name)' is taken") }
        guard case .failed(let error) = state.catalog.open(realm, path: path, options) else { return nil }
        return error
    }

    deinit { state.workers.close() }

    package func close(_ name: String) { state.catalog.detach(name) }

    /// What the handler answers; streams are taken up to `limit` bytes. If `isSent` is false, the answer does not reach its client.
    package func request(
        _ method: String, _ target: String, body: String? = nil, headers: [(RequestHeader, String)] = [], limit: Int = 4 << 20,
        isSent: Bool = true
    ) -> Answer {
        var fields = RequestHeaders()
        fields.add(.host, "127.0.0.1")
        if body != nil, !headers.contains(where: { $0.0 == .contentType }) { fields.add(.contentType, "application/json") }
        for (name, value) in headers { fields.add(name, value) }
        let request = Request(
            methodName: method, target: RequestTarget(Array(target.utf8)), headers: fields, id: RequestID(),
            arrival: Instant.now(),
            clientAddress: "127.0.0.1")
        let task = handler.begin(request)
        defer {
            if !isSent { task.end(status: 499, bytesSent: 0, bytesReceived: 0, isComplete: false) }
        }
        if case .refuse(let response) = task.admit() { return answer(response, limit) }
        request.body.bytes = Array((body ?? "").utf8)
        switch task.reply() {
        case .now(let response): return answer(task.finish(response), limit)
        case .work(let work), .attend(let work): return answer(task.finish(work()), limit)
        case .later(let begin):
            let promise = Promise()
            begin(promise)
            guard let response = promise.wait(seconds: 30) else { return Answer(status: 0, headers: [], bytes: []) }
            return answer(task.finish(response), limit)
        }
    }

    private func answer(_ response: Response, _ limit: Int) -> Answer {
        switch response.body {
        case .none, .events: return Answer(status: response.status, headers: response.headers, bytes: [])
        case .bytes(let buffer): return Answer(status: response.status, headers: response.headers, bytes: buffer.array)
        case .stream(let producer):
            var bytes: [UInt8] = []
            let buffer = OutputBuffer()
            while bytes.count < limit {
                guard let isLast = try? producer.produce(into: buffer) else { break }
                bytes += buffer.array
                buffer.removeAll()
                if isLast { break }
            }
            return Answer(status: response.status, headers: response.headers, bytes: bytes)
        }
    }
}

/// Where an answer that comes later is waited for.
private final class Promise: ResponsePromise {
    private let response = Mutex<Response?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    func complete(_ response: Response) {
        let isFirst = self.response.withLock { known -> Bool in
            defer { if known == nil { known = response } }
            return known == nil
        }
        if isFirst { arrived.signal() }
    }

    func onDisconnect(_ action: @escaping @Sendable () -> Void) {}

    func wait(seconds: Int) -> Response? {
        guard arrived.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
        return response.withLock { $0 }
    }
}
