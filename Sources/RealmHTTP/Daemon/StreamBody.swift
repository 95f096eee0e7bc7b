// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// The body of a streamed answer: chunks made by workers, taken by the daemon.
///
/// A producer never blocks a worker. It is asked for one chunk at a time, and rests when enough of them wait; the
/// daemon taking one starts it again. When none is there the connection is suspended until the next.
/// A client that stops reading is found by the daemon's idle time-out.
final class StreamBody: Suspended {
    private struct State {
        var chunks: [OutputBuffer] = []
        /// What chunks beyond the usual size take of the memory for answers.
        var holding: ByteHolding?
        /// Bytes of the first chunk that were taken.
        var offset = 0
        var isProducing = false
        /// No more chunks will come: the end, an error, or nobody left to read them.
        var isFinished = false
        var hasFailed = false
        var bytesTaken = 0
        var producer: (any ChunkProducer)?
    }

    private let state: RankedMutex<State>
    private let connection: ConnectionPointer
    private let server: HTTPServer
    /// When the answer is given up, however little the client reads at a time: it holds a version.
    private let end: Instant
    private let client: String

    @safe private struct ConnectionPointer: @unchecked Sendable {
        /// Only used to resume, which any thread may do.
        let pointer: OpaquePointer
    }

    /// The body of a long answer on a connection. Nothing is produced before the daemon asks for it.
    init(_ producer: any ChunkProducer, of client: String, _ connection: OpaquePointer, _ server: HTTPServer) {
        self.client = client
        state = RankedMutex(.streamBody, State(producer: producer))
        self.connection = unsafe ConnectionPointer(pointer: connection)
        self.server = server
        end = Instant.now().adding(seconds: Double(server.configuration.limits.answerSeconds))
    }

    /// Bytes that the daemon has taken.
    var bytesTaken: Int { state.withLock { $0.bytesTaken } }

    /// A message that reads from this stream, and keeps it until the daemon is done.
    func makeMessage() -> OpaquePointer? {
        let context = unsafe Unmanaged.passRetained(self)
        let message = unsafe MHD_create_response_from_callback(
            UInt64.max, 32 << 10,
            { context, _, target, capacity in
                guard let context = unsafe context, let target = unsafe target else { return StreamBody.failed }
                return unsafe Unmanaged<StreamBody>.fromOpaque(context).takeUnretainedValue().read(target, capacity)
            },
            unsafe context.toOpaque(),
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<StreamBody>.fromOpaque(context).takeRetainedValue().cancel()
            })
        if unsafe message == nil { unsafe context.release() }
        return unsafe message
    }

    private static let ended: Int = -1
    private static let failed: Int = -2

    /// Runs on the daemon's thread: copies what is there, or suspends the connection.
    private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
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

    private func startProducing(_ state: inout State) {
        guard !state.isProducing, !state.isFinished, state.chunks.count < Streaming.queuedChunks else { return }
        state.isProducing = true
        let isQueued = server.workers.submitContinuation(for: client) { [self] in produce() }
        if !isQueued {
            state.isFinished = true
            state.hasFailed = true
        }
    }

    /// Runs on a worker: chunk after chunk until enough of them wait.
    private func produce() {
        while let producer = state.withLock({ $0.isFinished ? nil : $0.producer }) {
            let buffer = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
            let result = Result { try producer.produce(into: buffer) }
            let goesOn = state.withLock { state -> Bool in
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
                let goesOn = !state.isFinished && state.chunks.count < Streaming.queuedChunks
                if !goesOn { state.isProducing = false }
                return goesOn
            }
            unsafe server.suspensions.resume(connection.pointer, for: self)
            if !goesOn { return }
        }
    }

    /// A single row may be as long as a document.
    private static func isLong(_ chunk: OutputBuffer) -> Bool { chunk.count > 4 * Streaming.chunkBytes }

    /// Takes memory for a chunk beyond the usual size; false when there is none left.
    private func hold(_ chunk: OutputBuffer, _ state: inout State) -> Bool {
        guard StreamBody.isLong(chunk) else { return true }
        let holding = state.holding ?? ByteHolding(server.unsentBytes, client)
        state.holding = holding
        return holding.grow(by: chunk.count) == nil
    }

    /// The daemon lets the stream go: sent, or the client has left.
    private func cancel() { finish(hasFailed: false) }

    /// The server stops while the connection sleeps: the stream is cut off.
    func abandon() { finish(hasFailed: true) }

    private func finish(hasFailed: Bool) {
        // The version that the producer reads goes after the lock is open again.
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
