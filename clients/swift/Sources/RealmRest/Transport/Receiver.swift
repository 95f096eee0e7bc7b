import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The head of an answer, and its body in pieces. Whoever stops reading ends the request.
struct Body: Sendable {
    let status: Int
    /// By lower-case name.
    let headers: [String: String]
    let pieces: AsyncThrowingStream<[UInt8], any Error>
    /// Ends the request, and the pieces with an error that says why.
    let cancel: @Sendable (String) -> Void
}

/// How long an answer may take, in seconds.
enum TimeLimit: Sendable {
    /// Until all of it is there.
    case whole(Double)
    /// Until it begins.
    case head(Double)
}

/// What carries requests to the server.
protocol Carrier: Sendable {
    /// Begins a request and waits for the head of its answer.
    func start(_ request: URLRequest, within limit: TimeLimit) async throws -> Body
    /// Ends all requests; there are no further ones.
    func close()
}

/// Carries requests by URLSession.
final class SessionCarrier: Carrier {
    private let session: URLSession
    private let receiver = Receiver()
    /// Guards the session, which ends the process when it is used after its end.
    private let isClosed = Mutex(false)

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        // Streams occupy a connection each; the server allows a client twenty.
        configuration.httpMaximumConnectionsPerHost = 50
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    func start(_ request: URLRequest, within limit: TimeLimit) async throws -> Body {
        let task = isClosed.withLock { $0 ? nil : session.dataTask(with: request) }
        guard let task else { throw ConnectionLost("the client is closed") }
        return try await receiver.start(task, within: limit)
    }

    func close() {
        isClosed.withLock { isClosed in
            if !isClosed { session.invalidateAndCancel() }
            isClosed = true
        }
    }
}

/// Hands what URLSession delivers to whoever asked. A delegate, because Foundation on Linux has no streams of bytes.
final class Receiver: NSObject, URLSessionDataDelegate {
    /// More than a reader may leave unread; it gets an error instead, and goes on from its position.
    static let unreadLimit = 4096

    private struct Exchange {
        var head: CheckedContinuation<Body, any Error>?
        let pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
        let stream: AsyncThrowingStream<[UInt8], any Error>
    }

    private let exchanges = Mutex<[Int: Exchange]>([:])

    /// Begins a request and waits for the head of its answer.
    func start(_ task: URLSessionDataTask, within limit: TimeLimit) async throws -> Body {
        let identifier = task.taskIdentifier
        let (stream, pieces) = AsyncThrowingStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(Self.unreadLimit))
        let timer = Task { [self] in
            switch limit {
            case .whole(let seconds): try await Task.sleep(for: .seconds(seconds))
            case .head(let seconds):
                try await Task.sleep(for: .seconds(seconds))
                guard exchanges.withLock({ $0[identifier]?.head != nil }) else { return }
            }
            fail(identifier, ConnectionLost(timeout: "no answer in time"))
            task.cancel()
        }
        pieces.onTermination = { _ in
            timer.cancel()
            task.cancel()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.withLock { $0[identifier] = Exchange(head: continuation, pieces: pieces, stream: stream) }
                // Cancelled before there was anything to cancel.
                if Task.isCancelled { fail(identifier, CancellationError()) } else { task.resume() }
            }
        } onCancel: {
            fail(identifier, CancellationError())
            task.cancel()
        }
    }

    /// Ends an exchange with an error, at once; what URLSession still says of it is of no interest.
    private func fail(_ identifier: Int, _ error: any Error) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: identifier) }) else { return }
        exchange.head?.resume(throwing: error)
        exchange.pieces.finish(throwing: error)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let identifier = dataTask.taskIdentifier
        let waiting = exchanges.withLock { exchanges -> (CheckedContinuation<Body, any Error>?, Exchange)? in
            guard var exchange = exchanges[identifier] else { return nil }
            let head = exchange.head
            exchange.head = nil
            exchanges[identifier] = exchange
            return (head, exchange)
        }
        guard let (head, exchange) = waiting, let answer = response as? HTTPURLResponse else {
            completionHandler(.cancel)
            return
        }
        var headers: [String: String] = [:]
        for (name, value) in answer.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
        let body = Body(status: answer.statusCode, headers: headers, pieces: exchange.stream) { [self] reason in
            fail(identifier, ConnectionLost(reason))
            dataTask.cancel()
        }
        head?.resume(returning: body)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let exchange = exchanges.withLock { $0[dataTask.taskIdentifier] }
        guard let exchange else { return }
        if case .dropped = exchange.pieces.yield(Array(data)) {
            fail(dataTask.taskIdentifier, ConnectionLost("the reader is too far behind"))
            dataTask.cancel()
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        guard let exchange else { return }
        if let error {
            let failure = ConnectionLost("\(error)")
            exchange.head?.resume(throwing: failure)
            exchange.pieces.finish(throwing: failure)
        } else {
            exchange.head?.resume(throwing: ConnectionLost("an answer without a head"))
            exchange.pieces.finish()
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
