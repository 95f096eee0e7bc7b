// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The body of an endless response: asks its source for pieces, and suspends the connection when there is nothing to send.
///
/// The daemon's thread of the connection reads it first. Once it is suspended, a thread of `EventSenders` sends the events, on
/// the socket itself, and resumes the connection only for its end; over TLS, and for clients of HTTP/1.0, the connection is
/// resumed for each event instead. Such a thread takes the connection in the `SuspensionTable` before it sends, and the daemon
/// has it only while it is not suspended, so only one of them sends.
///
/// Any thread may wake it. A lock guards its state, and is never held while the source is called. It keeps no bytes other than
/// the piece that is being sent, and the part of a chunk that its socket did not take. The library holds one reference until the
/// response ends; the `StreamWatch` holds another.
package final class EventBody: Suspended {
    /// The mutable state while the response is sent, under the lock.
    private struct State {
        /// The piece that is being sent; nil when the source has to be asked for the next one.
        var piece: OutputBuffer?
        /// The number of bytes of the piece that the daemon has taken.
        var offset = 0
        /// The number of bytes that the daemon has taken in all.
        var bytesTaken = 0
        /// Whether more of the daemon's buffer was used than `smallBytes` since its pages were last returned to the system.
        var hasUsedMemory = true
        /// Whether the source has returned its end.
        var hasEnded = false
        /// The reason for the end of sending; nil while the response continues.
        var closeReason: EventCloseReason?
        /// Whether a thread of `EventSenders` has this body, or is to get it.
        var delivery = Delivery.none
        /// The bytes of a chunk that the socket has not taken yet. While there are any, it takes no more until
        /// its client reads.
        var rest: ArraySlice<UInt8> = []
    }

    /// The steps of a delivery by a thread of `EventSenders`.
    private enum Delivery {
        /// The body is neither queued nor being delivered.
        case none
        case queued
        /// A thread delivers it.
        case running
        /// A thread delivers it, and it was woken since.
        case runningAgain
    }

    /// The bytes given to the daemon at a time. They are few, so that the memory of a connection that sends little stays small.
    private static let bytesAtOnce = EventChunk.contentBytes
    /// The number of chunks that are sent at most before others get their turn.
    private static let chunksAtOnce = 8
    /// The number of bytes up to which it is not worth returning pages to the system.
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
    /// The socket of the connection. It is open as long as the connection is suspended, and while the
    /// `StreamWatch` has this body.
    let descriptor: Int32
    /// Whether events are sent on the socket itself: in chunks, and not encrypted.
    let isDirect: Bool

    /// Makes the body of an endless response. The source is not called before `makeMessage`.
    ///
    /// - Parameters:
    ///   - source: The content.
    ///   - connection: The connection on which it is sent.
    ///   - server: The server, whose tables and limits apply.
    ///   - isChunked: Whether the library sends the body in chunks.
    init(_ source: any EventSource, _ connection: OpaquePointer, _ server: HTTPServer, isChunked: Bool) {
        self.source = source
        self.connection = unsafe ConnectionPointer(pointer: connection)
        self.server = server
        unsafe descriptor = realm_rest_connection_socket(connection)
        isDirect = unsafe isChunked && descriptor >= 0 && realm_rest_connection_session(connection) == nil
    }

    /// The number of bytes of content that the daemon has taken.
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
        // The watch detects clients that are gone; this limits the time for which a client may leave bytes unread.
        unsafe realm_rest_set_timeout(connection.pointer, UInt32(clamping: server.configuration.limits.stallSeconds))
        if isDirect { realm_rest_send_at_once(descriptor) }
        server.streams.add(self)
        source.didOpen(self)
        return unsafe message
    }

    /// The library's mark for the end of the content (`MHD_CONTENT_READER_END_OF_STREAM`).
    private static let ended: Int = -1
    /// The library's mark for a failure, which closes the connection (`MHD_CONTENT_READER_END_WITH_ERROR`).
    private static let failed: Int = -2

    /// Copies the available content, or suspends the connection. It runs on the daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - target: The buffer of the library.
    ///   - capacity: The size of that buffer in bytes.
    /// - Returns: The number of copied bytes; 0 when the connection was suspended; `ended` or `failed` at the end.
    private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        let (filled, isOver) = unsafe fill(target, min(capacity, EventBody.bytesAtOnce))
        if filled > EventBody.smallBytes { state.withLock { $0.hasUsedMemory = true } }
        if filled > 0 { return filled }
        if isOver { return state.withLock { $0.closeReason == nil } ? EventBody.ended : EventBody.failed }
        unsafe giveMemoryBack(target, capacity)
        guard unsafe server.suspensions.suspend(connection.pointer, for: self) else { return EventBody.failed }
        // Events between the last question and the suspension could not wake the connection.
        if source.hasMore || state.withLock({ $0.closeReason != nil }) { wake() }
        return 0
    }

    /// Returns the memory of the library's buffer to the system while the connection sleeps. The buffer is as large as a
    /// request may be, and thousands of connections sleep for minutes with one each.
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
        /// The connection was abandoned; unsent data is lost.
        case ended
    }

    /// Copies pieces into the library's buffer until it is full or the source has nothing.
    ///
    /// - Returns: The number of copied bytes, and whether they are the last.
    private func fill(_ target: UnsafeMutablePointer<CChar>, _ room: Int) -> (Int, Bool) {
        var filled = 0
        while filled < room {
            let step = state.withLock { state -> Filling in
                guard state.closeReason == nil else { return .ended }
                guard state.piece == nil else { return unsafe .copied(copy(target + filled, room - filled, &state)) }
                return state.hasEnded ? .over : .needsPiece
            }
            switch step {
            case .ended: return (0, true)
            case .over: return (filled, true)
            case .copied(let count): filled += count
            case .needsPiece: if !takePiece() { return (filled, false) }
            }
        }
        return (filled, false)
    }

    /// Asks the source for its next piece, without holding the lock, because the source takes other locks.
    ///
    /// Only the daemon's thread of this connection asks, so no other thread sets a piece in the meantime.
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

    /// Copies as much of the current piece as fits, and returns the number of bytes.
    private func copy(_ target: UnsafeMutablePointer<CChar>, _ room: Int, _ state: inout State) -> Int {
        guard let piece = state.piece else { return 0 }
        let offset = state.offset
        let count = unsafe piece.withBytes { bytes -> Int in
            let count = min(room, bytes.count - offset)
            // In bounds: `offset` never passes the end of the piece, and `room` is the free space of the target.
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

    // MARK: - Direct delivery

    /// Records that the source may have something.
    ///
    /// - Returns: Whether the caller has to queue this body, which is not queued and not being delivered.
    func noteWoken() -> Bool {
        state.withLock { state in
            switch state.delivery {
            case .none:
                state.delivery = .queued
                return true
            case .running:
                state.delivery = .runningAgain
                return false
            case .queued, .runningAgain: return false
            }
        }
    }

    /// Begins a delivery by the thread that has taken this body from the queue.
    func beginDelivery() { state.withLock { $0.delivery = .running } }

    /// Ends a delivery.
    ///
    /// - Parameter isOver: Whether there was nothing left to be sent.
    /// - Returns: Whether the caller has to queue this body again.
    func endDelivery(isOver: Bool) -> Bool {
        state.withLock { state in
            let isWanted = !isOver || state.delivery == .runningAgain
            state.delivery = isWanted ? .queued : .none
            return isWanted
        }
    }

    /// Sends the content of the source, if the connection is suspended for this body; otherwise the daemon does that.
    ///
    /// One thread at a time calls it, between `beginDelivery` and `endDelivery`.
    ///
    /// - Parameter chunk: Memory of the calling thread.
    /// - Returns: False when others should have their turn before the rest is sent.
    func deliver(through chunk: EventChunk) -> Bool {
        guard unsafe server.suspensions.take(connection.pointer, for: self) else { return true }
        var chunks = 0
        var step = Step.sent
        while step == .sent, chunks < EventBody.chunksAtOnce {
            step = sendNext(through: chunk)
            chunks += 1
        }
        unsafe server.suspensions.giveBack(connection.pointer, isResumed: step == .over)
        return step != .sent
    }

    /// The step that a direct delivery has reached.
    private enum Step {
        /// A chunk was sent; there may be more.
        case sent
        /// There is nothing to send at the moment, or the socket takes nothing.
        case idle
        /// The daemon has to end the response.
        case over
    }

    /// Sends the rest of a chunk, or the next one.
    private func sendNext(through chunk: EventChunk) -> Step {
        let (rest, hasEnded) = state.withLock { ($0.rest, $0.closeReason != nil) }
        if hasEnded { return .over }
        guard rest.isEmpty else { return note(EventChunk.send(rest, on: descriptor), of: rest.count) }
        let (filled, isOver) = unsafe chunk.fill { target, room in unsafe fill(target, room) }
        guard filled > 0 else { return isOver ? .over : .idle }
        let step = note(chunk.send(on: descriptor), of: .max)
        // A chunk that is not full was all that the source had. Later events wake this body again.
        return step == .sent && filled < EventChunk.contentBytes && !isOver ? .idle : step
    }

    /// Records the bytes that a socket has taken.
    ///
    /// - Parameters:
    ///   - rest: The bytes that are left; nil when the connection is broken.
    private func note(_ rest: ArraySlice<UInt8>?, of count: Int) -> Step {
        guard let rest else {
            end(.left)
            return .over
        }
        let wasBlocked = state.withLock { state in
            // A copy, as the memory of the chunk is used for other connections.
            defer { state.rest = rest.isEmpty ? [] : Array(rest)[...] }
            return !state.rest.isEmpty
        }
        if !rest.isEmpty {
            server.streams.noteBlocked(self, hasProgressed: !wasBlocked || rest.count < count)
        } else if wasBlocked {
            server.streams.noteUnblocked(self)
        }
        return rest.isEmpty ? .sent : .idle
    }

    // MARK: - Calls of the watch

    /// Passes on to the source that a heartbeat is due. The `StreamWatch` calls it.
    func heartbeat() { source.heartbeat() }
    /// Passes on to the source that the response has lasted long enough. The `StreamWatch` calls it.
    func ageOut() { source.ageOut() }

    /// Ends the response at the next read of the daemon, unless everything was sent already. The caller wakes the connection.
    ///
    /// - Parameter reason: The reason that is reported to the source.
    func end(_ reason: EventCloseReason) {
        state.withLock { state in
            guard state.closeReason == nil, !state.hasEnded || state.piece != nil || !state.rest.isEmpty else { return }
            state.closeReason = reason
            state.rest = []
            state.piece = nil
            state.offset = 0
        }
    }

    // MARK: - The end

    /// Called when the library frees its response object: removes this body from the watch and reports the end to the source.
    private func close() {
        server.streams.remove(self)
        let reason = state.withLock { state -> EventCloseReason in
            defer { state.piece = nil }
            return state.closeReason ?? (state.hasEnded ? .ended : .left)
        }
        source.didClose(reason)
    }

    /// Ends the response because the server stops while the connection is suspended: nothing more is sent.
    func abandon() { end(.left) }
}

extension EventBody: EventConnection {
    /// Asks the source for more, if the connection is suspended for this body.
    package func wake() { EventBody.wake(bodies: [self]) }

    /// Asks the sources of the suspended ones of many connections for more.
    package static func wake(_ connections: [any EventConnection]) {
        var bodies: [EventBody] = []
        bodies.reserveCapacity(connections.count)
        for case let body as EventBody in connections { bodies.append(body) }
        wake(bodies: bodies)
    }

    /// Asks the sources of the suspended ones of many connections for more. They may belong to different listeners.
    static func wake(bodies: [EventBody]) {
        // All listeners of a server have the same threads.
        bodies.first?.server.senders.submit(bodies.allSatisfy(\.isDirect) ? bodies : bodies.filter(\.isDirect))
        for body in bodies where !body.isDirect {
            unsafe body.server.suspensions.resume(body.connection.pointer, for: body)
        }
    }

    /// Breaks the connection, also in the middle of sending.
    package func hangUp() {
        end(.left)
        server.streams.breakConnection(of: self)
        wake()
    }
}
