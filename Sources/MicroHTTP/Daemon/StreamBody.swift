// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The body of a streamed response: chunks that workers make and the daemon takes.
///
/// A producer never blocks a worker. It makes one chunk for each call, and pauses when `Streaming.queuedChunks` of them are
/// waiting; the daemon starts it again when it takes one. When no chunk is ready, the connection is suspended until the next one
/// is. The daemon's idle time limit detects a client that stops reading.
///
/// A lock guards the state. The library holds one reference until the response ends; a worker that is producing holds another.
final class StreamBody: Suspended {
    /// The mutable state while the response is sent, under the lock.
    private struct State {
        /// The chunks that the daemon has not taken completely, in order.
        var chunks: [OutputBuffer] = []
        /// The memory for unsent responses that chunks of unusual length use.
        var holding: ByteHolding?
        /// The number of bytes of the first chunk that the daemon has taken.
        var offset = 0
        /// Whether a worker is making chunks, or is about to.
        var isProducing = false
        /// Whether no more chunks will be made: at the end, after an error, or when no client is left to read them.
        var isFinished = false
        /// Whether the response is to be cut off after the chunks that exist.
        var hasFailed = false
        /// The number of bytes that the daemon has taken in all.
        var bytesTaken = 0
        /// The producer; nil once no more chunks will be made, so that its resources are released.
        var producer: (any ChunkProducer)?
    }

    private let state: RankedMutex<State>
    /// The connection, which is suspended while no chunk is ready.
    private let connection: ConnectionPointer
    private let server: HTTPServer
    /// The time at which the response is aborted, even if the client keeps reading slowly: it prevents a version of the realm
    /// from being released.
    private let end: Instant
    /// The client whose share of workers and memory is used.
    private let client: String
    /// The connection, if its end is that of the body; nil for a body in chunks or of a known length.
    private let record: ConnectionRecord?

    /// Makes the body of a streamed response. Nothing is produced before the daemon asks for it.
    ///
    /// - Parameters:
    ///   - producer: Makes the content.
    ///   - client: The client whose share of workers and memory is used.
    ///   - connection: The connection on which the response is sent.
    ///   - server: The server, whose workers, tables and limits apply.
    ///   - record: The connection, if its end is that of the body.
    init(
        _ producer: any ChunkProducer, of client: String, _ connection: OpaquePointer, _ server: HTTPServer,
        endingWith record: ConnectionRecord?
    ) {
        self.client = client
        self.record = record
        byteCount = producer.completeByteCount
        state = RankedMutex(.streamBody, State(producer: producer))
        self.connection = unsafe ConnectionPointer(pointer: connection)
        self.server = server
        end = Instant.now().adding(seconds: Double(server.configuration.limits.answerSeconds))
    }

    /// The length of the whole body in bytes; nil when it is not known before the end.
    private let byteCount: Int?

    /// The number of bytes of content that the daemon has taken.
    var bytesTaken: Int { state.withLock { $0.bytesTaken } }

    /// Makes the response object of the library that reads from this body.
    ///
    /// - Returns: The response object, which holds a reference to this body until the library frees
    ///   it; nil when the library has no memory.
    func makeMessage() -> OpaquePointer? {
        let context = unsafe Unmanaged.passRetained(self)
        let message = unsafe MHD_create_response_from_callback(
            byteCount.map { UInt64($0) } ?? UInt64.max, 32 << 10,
            { context, _, target, capacity in
                guard let context = unsafe context, let target = unsafe target else { return StreamBody.failed }
                return unsafe Unmanaged<StreamBody>.fromOpaque(context).takeUnretainedValue().read(target, capacity)
            },
            unsafe context.toOpaque(),
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<StreamBody>.fromOpaque(context).takeRetainedValue().cancel()
            })
        guard let message = unsafe message else {
            unsafe context.release()
            return nil
        }
        // The library would close a connection that stalls as if the body were complete.
        if record?.beginUnframed(stallSeconds: server.configuration.limits.idleSeconds) == true {
            unsafe realm_rest_set_timeout(connection.pointer, 0)
        }
        return unsafe message
    }

    /// The library's mark for the end of the content (`MHD_CONTENT_READER_END_OF_STREAM`).
    private static let ended: Int = -1
    /// The library's mark for a failure, which closes the connection (`MHD_CONTENT_READER_END_WITH_ERROR`).
    private static let failed: Int = -2

    /// Copies from the first chunk, or suspends the connection. It runs on the daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - target: The buffer of the library.
    ///   - capacity: The size of that buffer in bytes.
    /// - Returns: The number of copied bytes; 0 when the connection was suspended; `ended` or `failed` at the end.
    private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        let count = unsafe copy(to: target, capacity)
        if count < 0 { record?.endUnframed(isComplete: count == StreamBody.ended) }
        return count
    }

    /// Copies as `read` does.
    private func copy(to target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        if Instant.now() > end {
            server.answersCutOff.add(1, ordering: .relaxed)
            return StreamBody.failed
        }
        return state.withLock { state in
            startProducing(&state)
            guard let chunk = state.chunks.first else {
                if state.isFinished { return state.hasFailed ? StreamBody.failed : StreamBody.ended }
                return unsafe server.suspensions.suspend(connection.pointer, for: self) ? 0 : StreamBody.failed
            }
            let count = unsafe chunk.withBytes { bytes -> Int in
                let count = min(capacity, bytes.count - state.offset)
                if count > 0, let base = bytes.baseAddress { unsafe memcpy(target, base + state.offset, count) }
                return count
            }
            state.offset += count
            state.bytesTaken += count
            if state.offset >= chunk.count {
                state.chunks.removeFirst()
                if StreamBody.isLong(chunk) { state.holding?.shrink(by: chunk.count) }
                state.offset = 0
                startProducing(&state)
            }
            return count
        }
    }

    /// Lets a worker make chunks, unless one does, no more are needed, or enough are waiting. The lock is held.
    private func startProducing(_ state: inout State) {
        guard !state.isProducing, !state.isFinished, state.chunks.count < Streaming.queuedChunks else { return }
        state.isProducing = true
        let isQueued = server.workers.submitContinuation(for: client) { [self] in produce() }
        if !isQueued {
            state.isFinished = true
            state.hasFailed = true
        }
    }

    /// Makes chunk after chunk until enough are waiting, and resumes the connection after each. It runs on a worker.
    private func produce() {
        while let producer = state.withLock({ $0.isFinished ? nil : $0.producer }) {
            let buffer = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
            let result = Result { try producer.produce(into: buffer) }
            let continues = state.withLock { state -> Bool in
                guard !state.isFinished else { return false }
                switch result {
                case .success(let isEnd):
                    guard hold(buffer, &state) else {
                        state.isFinished = true
                        state.hasFailed = true
                        break
                    }
                    if !buffer.isEmpty { state.chunks.append(buffer) }
                    if isEnd { state.isFinished = true }
                case .failure:
                    state.isFinished = true
                    state.hasFailed = true
                }
                if state.isFinished { state.producer = nil }
                let continues = !state.isFinished && state.chunks.count < Streaming.queuedChunks
                if !continues { state.isProducing = false }
                return continues
            }
            unsafe server.suspensions.resume(connection.pointer, for: self)
            if !continues { return }
        }
    }

    /// Whether a chunk is so much longer than usual that it is charged to the memory for unsent
    /// responses: a single row can be as long as a document.
    private static func isLong(_ chunk: OutputBuffer) -> Bool { chunk.count > 4 * Streaming.chunkBytes }

    /// Charges a long chunk to the memory for unsent responses; false when there is not enough of it.
    private func hold(_ chunk: OutputBuffer, _ state: inout State) -> Bool {
        guard StreamBody.isLong(chunk) else { return true }
        let holding = state.holding ?? ByteHolding(server.unsentBytes, client)
        state.holding = holding
        return holding.grow(by: chunk.count) == nil
    }

    /// Called when the library frees its response object: the response was sent, or the client has left.
    private func cancel() { finish(hasFailed: false) }

    /// Cuts the response off because the server stops while the connection is suspended.
    func abandon() { finish(hasFailed: true) }

    /// Ends the production and drops all chunks.
    private func finish(hasFailed: Bool) {
        // The version that the producer reads is released after the lock, as that may take other
        // locks.
        let dropped = state.withLock { state in
            defer {
                state.isFinished = true
                state.hasFailed = state.hasFailed || hasFailed
                state.chunks = []
                state.producer = nil
                state.holding = nil
            }
            return (state.chunks, state.producer, state.holding)
        }
        withExtendedLifetime(dropped) {}
    }
}
