// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage

/// The body of an endless answer: takes what its source has, and puts the connection to sleep when that is nothing.
///
/// It keeps no bytes of its own beside the piece that is being sent.
final class EventBody: Suspended {
    private struct State {
        /// What is being sent, and how much of it was taken.
        var piece: OutputBuffer?
        var offset = 0
        var bytesTaken = 0
        /// Whether more of the daemon's buffer was used than what is small.
        var hasUsedMemory = true
        var hasEnded = false
        var closeReason: EventCloseReason?
    }

    /// Small, so that the memory of a connection that sends little stays small.
    private static let bytesAtOnce = 8 << 10
    private static let smallBytes = 4 << 10
    private static let pageBytes = max(4096, sysconf(Int32(_SC_PAGESIZE)))
    /// What the daemon keeps for answers without chunks.
    private static let blockBytes = 2 << 10

    private let state = RankedMutex(.leaf, State())
    private let source: any EventSource
    /// The connection, which is suspended while the source has nothing.
    let connection: ConnectionPointer
    private let server: HTTPServer

    @safe struct ConnectionPointer: @unchecked Sendable {
        /// Only used to resume, which any thread may do.
        let pointer: OpaquePointer
    }

    /// The body of an endless answer on a connection.
    init(_ source: any EventSource, _ connection: OpaquePointer, _ server: HTTPServer) {
        self.source = source
        self.connection = unsafe ConnectionPointer(pointer: connection)
        self.server = server
    }

    /// Bytes that the daemon has taken.
    var bytesTaken: Int { state.withLock { $0.bytesTaken } }

    /// A message that reads from the source, and keeps it until the daemon is done.
    func makeMessage() -> OpaquePointer? {
        let context = unsafe Unmanaged.passRetained(self)
        let message = unsafe MHD_create_response_from_callback(
            UInt64.max, EventBody.blockBytes,
            { context, _, target, capacity in
                guard let context = unsafe context, let target = unsafe target else { return EventBody.failed }
                return unsafe Unmanaged<EventBody>.fromOpaque(context).takeUnretainedValue().read(target, capacity)
            },
            unsafe context.toOpaque(),
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<EventBody>.fromOpaque(context).takeRetainedValue().close()
            })
        guard let message = unsafe message else {
            unsafe context.release()
            return nil
        }
        // Whether the client is still there is the watch's business; this bounds how long it may refuse to read.
        unsafe realm_rest_set_timeout(connection.pointer, UInt32(clamping: server.configuration.limits.stallSeconds))
        unsafe server.streams.add(self, descriptor: realm_rest_connection_socket(connection.pointer))
        source.didOpen(self)
        return unsafe message
    }

    private static let ended: Int = -1
    private static let failed: Int = -2

    /// Runs on the daemon's thread.
    private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        let (filled, isOver) = unsafe fill(target, min(capacity, EventBody.bytesAtOnce))
        if filled > EventBody.smallBytes { state.withLock { $0.hasUsedMemory = true } }
        if filled > 0 { return filled }
        if isOver { return state.withLock { $0.closeReason == nil } ? EventBody.ended : EventBody.failed }
        unsafe giveMemoryBack(target, capacity)
        guard unsafe server.suspensions.suspend(connection.pointer, for: self) else { return EventBody.failed }
        // Whatever came between the question and the suspension found nobody to wake.
        if source.hasMore || state.withLock({ $0.closeReason != nil }) { wake() }
        return 0
    }

    /// Lets the system have the pages of the buffer, which is as large as a request may be: thousands of connections
    /// sleep for minutes, each with one.
    private func giveMemoryBack(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) {
        let isNeeded = state.withLock { state -> Bool in
            defer { state.hasUsedMemory = false }
            return state.hasUsedMemory
        }
        let page = EventBody.pageBytes
        let start = (UInt(bitPattern: target) + UInt(page) - 1) & ~UInt(page - 1)
        let end = (UInt(bitPattern: target) + UInt(capacity)) & ~UInt(page - 1)
        // Whole pages inside the buffer, which is empty now: they read as zeros when they are written next.
        guard isNeeded, end > start, let pages = unsafe UnsafeMutableRawPointer(bitPattern: start) else { return }
        unsafe madvise(pages, Int(end - start), MADV_DONTNEED)
    }

    private enum Filling {
        case copied(Int)
        /// The piece is sent, and the source is asked for the next.
        case needsPiece
        case over
        case givenUp
    }

    /// Copies pieces as long as there is room for a whole head of one; true when nothing more will come.
    private func fill(_ target: UnsafeMutablePointer<CChar>, _ room: Int) -> (Int, Bool) {
        var filled = 0
        while filled < room {
            let step = state.withLock { state -> Filling in
                guard state.closeReason == nil else { return .givenUp }
                guard state.piece == nil else { return unsafe .copied(copy(target + filled, room - filled, &state)) }
                return state.hasEnded ? .over : .needsPiece
            }
            switch step {
            case .givenUp: return (0, true)
            case .over: return (filled, true)
            case .copied(let count): filled += count
            case .needsPiece: if !takePiece() { return (filled, false) }
            }
        }
        return (filled, false)
    }

    /// Asks the source, which takes locks of its own and may call whoever waits for it. Only the daemon's thread of this
    /// connection asks, so nobody else sets a piece meanwhile. False when there is nothing now.
    private func takePiece() -> Bool {
        HeldLocks.assertNone()
        switch source.next() {
        case .nothing: return false
        case .end: state.withLock { $0.hasEnded = true }
        case .bytes(let piece):
            state.withLock { state in
                guard state.closeReason == nil else { return }
                state.piece = piece
            }
        }
        return true
    }

    private func copy(_ target: UnsafeMutablePointer<CChar>, _ room: Int, _ state: inout State) -> Int {
        guard let piece = state.piece else { return 0 }
        let offset = state.offset
        let count = unsafe piece.withBytes { bytes -> Int in
            let count = min(room, bytes.count - offset)
            // In bounds: `offset` never passes the end of the piece, and `room` is what the target has.
            if count > 0, let base = bytes.baseAddress { unsafe memcpy(target, base + offset, count) }
            return count
        }
        state.bytesTaken += count
        state.offset += count
        if state.offset >= piece.count {
            state.piece = nil
            state.offset = 0
        }
        return count
    }

    // MARK: - From the watch

    func heartbeat() { source.heartbeat() }
    func ageOut() { source.ageOut() }

    /// The connection is of no use any more; what sleeps on it is woken by the caller.
    func giveUp(_ reason: EventCloseReason) {
        state.withLock { state in
            guard state.closeReason == nil, !state.hasEnded || state.piece != nil else { return }
            state.closeReason = reason
            state.piece = nil
            state.offset = 0
        }
    }

    // MARK: - The end

    /// The daemon lets the answer go.
    private func close() {
        server.streams.remove(self)
        let reason = state.withLock { state -> EventCloseReason in
            defer { state.piece = nil }
            return state.closeReason ?? (state.hasEnded ? .ended : .left)
        }
        source.didClose(reason)
    }

    /// The server stops while the connection sleeps: nothing more is sent.
    func abandon() { giveUp(.left) }
}

extension EventBody: EventConnection {
    func wake() { unsafe server.suspensions.resume(connection.pointer, for: self) }

    static func wake(_ connections: [any EventConnection]) {
        var bodies: [EventBody] = []
        bodies.reserveCapacity(connections.count)
        for case let body as EventBody in connections { bodies.append(body) }
        wake(bodies: bodies)
    }

    static func wake(bodies: [EventBody]) { bodies.first?.server.suspensions.resume(bodies) }

    func hangUp() {
        giveUp(.left)
        server.streams.breakConnection(of: self)
        wake()
    }
}
