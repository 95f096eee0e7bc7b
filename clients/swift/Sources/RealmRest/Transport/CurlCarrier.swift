#if os(Linux)
import CTransfer
import Foundation
import FoundationNetworking
import Synchronization

/// Carries requests by the library below Foundation, because Foundation's own URLSession ends the process when an answer is cut within its
/// head. Each request occupies a thread as long as it lasts; handles keep their connections for later ones.
final class CurlCarrier: Carrier {
    /// Handles that are not in use.
    private struct Pool {
        var idle: [Handle] = []
        var running: [ObjectIdentifier: Exchange] = [:]
        var isClosed = false
    }

    /// A handle of the library. One thread uses it at a time.
    private struct Handle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    /// Handles that wait for further requests: as many as a client may have streams.
    private static let idleLimit = 20

    private let pool = Mutex(Pool())

    /// Nil where the library is not found, as in programs that bring a part of it along themselves.
    init?() {
        guard transfer_is_available() else { return nil }
    }

    deinit { close() }

    func start(_ request: URLRequest, within limit: TimeLimit) async throws -> Body {
        let exchange = Exchange(request, keeping: limit)
        let handle = pool.withLock { pool -> Handle? in
            guard !pool.isClosed else { return nil }
            pool.running[ObjectIdentifier(exchange)] = exchange
            return pool.idle.popLast() ?? transfer_open().map(Handle.init)
        }
        guard let handle else { throw ConnectionLost("the client is closed") }
        let thread = Thread { [self] in
            exchange.perform(handle.pointer)
            let isKept = pool.withLock { pool in
                pool.running[ObjectIdentifier(exchange)] = nil
                guard !pool.isClosed, pool.idle.count < Self.idleLimit else { return false }
                pool.idle.append(handle)
                return true
            }
            if !isKept { transfer_close(handle.pointer) }
        }
        thread.stackSize = 512 << 10
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchange.expect(continuation)
                thread.start()
            }
        } onCancel: {
            exchange.end(CancellationError())
        }
    }

    func close() {
        let (idle, running) = pool.withLock { pool in
            defer { pool = Pool(isClosed: true) }
            return (pool.idle, pool.running.values)
        }
        for handle in idle { transfer_close(handle.pointer) }
        for exchange in running { exchange.end(ConnectionLost("the client was closed")) }
    }
}

/// A request with its answer, as it comes in on a thread of its own.
private final class Exchange: Sendable {
    private struct State {
        var head: CheckedContinuation<Body, any Error>?
        var isBegun = false
        /// Why it ended early.
        var failure: (any Error)?
        var isOver = false
        var status = 0
        var headers: [String: String] = [:]
        var timer: Task<Void, any Error>?
    }

    private let request: URLRequest
    private let limit: TimeLimit
    private let stream: AsyncThrowingStream<[UInt8], any Error>
    private let pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
    private let state = Mutex(State())

    init(_ request: URLRequest, keeping limit: TimeLimit) {
        (self.request, self.limit) = (request, limit)
        (stream, pieces) = AsyncThrowingStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(Receiver.unreadLimit))
    }

    /// Begins to keep the time, and takes who waits for the head.
    func expect(_ continuation: CheckedContinuation<Body, any Error>) {
        let timer = Task { [weak self, limit] in
            switch limit {
            case .whole(let seconds), .head(let seconds): try await Task.sleep(for: .seconds(seconds))
            }
            self?.runOut()
        }
        pieces.onTermination = { [weak self] reason in
            if case .cancelled = reason { self?.end(CancellationError()) }
        }
        let failure = state.withLock { state in
            state.timer = timer
            if state.failure == nil { state.head = continuation }
            return state.failure
        }
        // Cancelled before there was anything to cancel.
        if let failure { continuation.resume(throwing: failure) }
    }

    private func runOut() {
        if case .head = limit, state.withLock({ $0.isBegun }) { return }
        end(ConnectionLost(timeout: "no answer in time"))
    }

    /// Ends it with an error, at once; the thread notices within a second.
    func end(_ error: any Error) {
        let head = state.withLock { state -> CheckedContinuation<Body, any Error>? in
            guard state.failure == nil, !state.isOver else { return nil }
            state.failure = error
            state.timer?.cancel()
            defer { state.head = nil }
            return state.head
        }
        head?.resume(throwing: error)
        pieces.finish(throwing: error)
    }

    private var continues: Bool { state.withLock { $0.failure == nil } }

    /// Takes a line of the head; the empty one completes it, unless it is a provisional answer's.
    private func take(line: String) -> Bool {
        let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("HTTP/") {
            state.withLock { ($0.status, $0.headers) = (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0, [:]) }
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            state.withLock { $0.headers[text[..<colon].lowercased()] = value }
        } else if text.isEmpty {
            let (head, body) = state.withLock { state -> (CheckedContinuation<Body, any Error>?, Body?) in
                guard state.status >= 200, !state.isBegun else { return (nil, nil) }
                state.isBegun = true
                defer { state.head = nil }
                return (
                    state.head,
                    Body(status: state.status, headers: state.headers, pieces: stream) { [self] reason in
                        end(ConnectionLost(reason))
                    }
                )
            }
            if let body { head?.resume(returning: body) }
        }
        return continues
    }

    private func take(piece: [UInt8]) -> Bool {
        if case .dropped = pieces.yield(piece) { end(ConnectionLost("the reader is too far behind")) }
        return continues
    }

    /// Transfers on this thread.
    func perform(_ handle: UnsafeMutableRawPointer) {
        var fields = (request.allHTTPHeaderFields ?? [:]).map { "\($0): \($1)" } + ["Expect:"]
        let method = request.httpMethod ?? "GET"
        // A request that could have a body says that it has none.
        let body = request.httpBody.map(Array.init) ?? (["POST", "PUT", "PATCH"].contains(method) ? [] : nil)
        if request.value(forHTTPHeaderField: "Content-Type") == nil { fields.append("Content-Type:") }
        let texts = fields.map { UnsafePointer(strdup($0)) }
        defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
        let problem =
            continues
            ? texts.withUnsafeBufferPointer { headers -> String? in
                (body ?? []).withUnsafeBufferPointer { bytes in
                    method.withCString { method in
                        (request.url?.absoluteString ?? "").withCString { url in
                            var empty: UInt8 = 0
                            return withUnsafePointer(to: &empty) { nothing in
                                var asked = transfer(
                                    method: method, url: url, headers: headers.baseAddress, header_count: headers.count,
                                    body: body == nil ? nil : bytes.baseAddress ?? nothing, body_count: bytes.count,
                                    context: Unmanaged.passUnretained(self).toOpaque(),
                                    head: { context, line, count in
                                        let bytes = UnsafeRawBufferPointer(start: line, count: count)
                                        return Exchange.of(context)?.take(line: String(decoding: bytes, as: UTF8.self)) ?? false
                                    },
                                    piece: { context, bytes, count in
                                        Exchange.of(context)?.take(piece: Array(UnsafeBufferPointer(start: bytes, count: count)))
                                            ?? false
                                    },
                                    goes_on: { context in Exchange.of(context)?.continues ?? false })
                                return transfer_perform(handle, &asked).map { String(cString: $0) }
                            }
                        }
                    }
                }
            } : nil
        finish(problem)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The transfer is over, whole or not.
    private func finish(_ problem: String?) {
        if let problem { return end(ConnectionLost(problem)) }
        if !state.withLock({ $0.isBegun }) { return end(ConnectionLost("an answer without a head")) }
        state.withLock { state in
            state.isOver = true
            state.timer?.cancel()
        }
        pieces.finish()
    }
}
#endif
