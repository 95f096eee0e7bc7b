// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage

/// The body of an endless response: asks its source for pieces, and suspends the connection when
/// there is nothing to send.
///
/// The daemon's thread of the connection reads it; any thread may wake it. A lock guards its state,
/// and is never held while the source is called. It keeps no bytes beside the piece that is being
/// sent. The library holds one reference until the response ends; the `StreamWatch` holds another.
final class EventBody: Suspended {
    /// What changes while the response is sent, under the lock.
    private struct State {
        /// The piece that is being sent; nil when the source has to be asked for the next one.
        var piece: OutputBuffer?
        /// How many bytes of the piece the daemon has taken.
        var offset = 0
        /// How many bytes the daemon has taken in all.
        var bytesTaken = 0
        /// Whether more of the daemon's buffer was used than `smallBytes` since its pages were last
        /// given back.
        var hasUsedMemory = true
        /// Whether the source has returned its end.
        var hasEnded = false
        /// Why nothing more is sent; nil while the response goes on.
        var closeReason: EventCloseReason?
    }

    /// How many bytes the daemon is given at a time. It is small, so that the memory of a
    /// connection that sends little stays small.
    private static let bytesAtOnce = 8 << 10
    /// Up to how many bytes it is not worth giving pages back to the system.
    private static let smallBytes = 4 << 10
    /// The size of a page of memory.
    private static let pageBytes = max(4096, sysconf(Int32(_SC_PAGESIZE)))
    /// The size of the buffer in the library's response object. It is used only for clients of
    /// HTTP/1.0, whose responses have no chunks; chunks use the memory of the connection.
    private static let blockBytes = 2 << 10

    private let state = RankedMutex(.leaf, State())
    private let source: any EventSource
    /// The connection, which is suspended while the source has nothing.
    let connection: ConnectionPointer
    private let server: HTTPServer

    /// Makes the body of an endless response. The source is not called before `makeMessage`.
    ///
    /// - Parameters:
    ///   - source: The content.
    ///   - connection: The connection on which it is sent.
    ///   - server: The server, whose tables and limits apply.
    init(_ source: any EventSource, _ connection: OpaquePointer, _ server: HTTPServer) {
        self.source = source
        self.connection = unsafe ConnectionPointer(pointer: connection)
        self.server = server
    }

    /// How many bytes of content the daemon has taken.
    var bytesTaken: Int { state.withLock { $0.bytesTaken } }

    /// Makes the response object of the library that reads from this body, and opens the source.
    ///
    /// It is called once, on the daemon's thread of the connection.
    ///
    /// - Returns: The response object, which holds a reference to this body until the library frees
    ///   it; nil when the library has no memory.
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
        // The watch finds out whether the client is still there; this limits how long it may leave
        // bytes unread.
        unsafe realm_rest_set_timeout(connection.pointer, UInt32(clamping: server.configuration.limits.stallSeconds))
        unsafe server.streams.add(self, descriptor: realm_rest_connection_socket(connection.pointer))
        source.didOpen(self)
        return unsafe message
    }

    /// What the library takes for the end of the content (`MHD_CONTENT_READER_END_OF_STREAM`).
    private static let ended: Int = -1
    /// What the library takes for a failure, which closes the connection
    /// (`MHD_CONTENT_READER_END_WITH_ERROR`).
    private static let failed: Int = -2

    /// Copies what there is to send, or suspends the connection. It runs on the daemon's thread of
    /// the connection.
    ///
    /// - Parameters:
    ///   - target: The buffer of the library.
    ///   - capacity: The size of that buffer in bytes.
    /// - Returns: How many bytes were copied; 0 when the connection was suspended; `ended` or
    ///   `failed` at the end.
    private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        let (filled, isOver) = unsafe fill(target, min(capacity, EventBody.bytesAtOnce))
        if filled > EventBody.smallBytes { state.withLock { $0.hasUsedMemory = true } }
        if filled > 0 { return filled }
        if isOver { return state.withLock { $0.closeReason == nil } ? EventBody.ended : EventBody.failed }
        unsafe giveMemoryBack(target, capacity)
        guard unsafe server.suspensions.suspend(connection.pointer, for: self) else { return EventBody.failed }
        // What arrived between the last question and the suspension could not wake the connection.
        if source.hasMore || state.withLock({ $0.closeReason != nil }) { wake() }
        return 0
    }

    /// Returns the memory of the library's buffer to the system while the connection sleeps. The
    /// buffer is as large as a request may be, and thousands of connections sleep for minutes with
    /// one each.
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

    /// The next step in filling the library's buffer.
    private enum Filling {
        /// Bytes of the current piece were copied; the value is their number.
        case copied(Int)
        /// The current piece is used up, and the source has to be asked for the next one.
        case needsPiece
        /// The source has ended, and everything was copied.
        case over
        /// The connection was given up; what is not sent is lost.
        case givenUp
    }

    /// Copies pieces into the library's buffer until it is full or the source has nothing.
    ///
    /// - Returns: How many bytes were copied, and whether nothing more will come.
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

    /// Asks the source for its next piece, without holding the lock, because the source takes locks
    /// of its own.
    ///
    /// Only the daemon's thread of this connection asks, so no other thread sets a piece in the
    /// meantime.
    ///
    /// - Returns: False when the source has nothing at the moment.
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

    /// Copies as much of the current piece as fits, and returns how many bytes that was.
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

    // MARK: - Calls of the watch

    /// Passes on to the source that a heartbeat is due. The `StreamWatch` calls it.
    func heartbeat() { source.heartbeat() }
    /// Passes on to the source that the response has lasted long enough. The `StreamWatch` calls
    /// it.
    func ageOut() { source.ageOut() }

    /// Ends the response at the next read of the daemon, unless everything was sent already. The
    /// caller wakes the connection.
    ///
    /// - Parameter reason: What is reported to the source.
    func giveUp(_ reason: EventCloseReason) {
        state.withLock { state in
            guard state.closeReason == nil, !state.hasEnded || state.piece != nil else { return }
            state.closeReason = reason
            state.piece = nil
            state.offset = 0
        }
    }

    // MARK: - The end

    /// Called when the library frees its response object: removes this body from the watch and
    /// reports the end to the source.
    private func close() {
        server.streams.remove(self)
        let reason = state.withLock { state -> EventCloseReason in
            defer { state.piece = nil }
            return state.closeReason ?? (state.hasEnded ? .ended : .left)
        }
        source.didClose(reason)
    }

    /// Ends the response because the server stops while the connection is suspended: nothing more
    /// is sent.
    func abandon() { giveUp(.left) }
}

extension EventBody: EventConnection {
    /// Resumes the connection if it is suspended for this body.
    func wake() { unsafe server.suspensions.resume(connection.pointer, for: self) }

    /// Resumes those of many connections that are suspended.
    static func wake(_ connections: [any EventConnection]) {
        var bodies: [EventBody] = []
        bodies.reserveCapacity(connections.count)
        for case let body as EventBody in connections { bodies.append(body) }
        wake(bodies: bodies)
    }

    /// Resumes those of many connections that are suspended. All have to belong to one server.
    static func wake(bodies: [EventBody]) { bodies.first?.server.suspensions.resume(bodies) }

    /// Breaks the connection, also in the middle of sending.
    func hangUp() {
        giveUp(.left)
        server.streams.breakConnection(of: self)
        wake()
    }
}
