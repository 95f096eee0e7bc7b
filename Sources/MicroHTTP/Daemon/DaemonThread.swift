// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// One thread of libmicrohttpd, with the connections that it serves.
///
/// A listener has several, each a daemon of the library without a listening socket. The library could share a socket between its
/// threads, but then the one that is awake first takes all connections that wait, and may have to serve most of them for as long as
/// they stay.
///
/// `@unchecked Sendable`: the daemon and its options are set before the thread is given its first connection, and freed when no
/// other thread still uses it; the library permits any thread to hand connections over.
@safe final class DaemonThread: @unchecked Sendable {
    /// The listener whose connections are served. It owns this object, and is alive as long as its threads.
    let server: HTTPServer
    /// The connections of the thread that are resumed to be answered.
    let resumptions = ResumptionQueue()
    /// The number of current and pending connections of the thread. One that the library fails to set up for lack of memory stays
    /// counted: the thread is only given one fewer.
    private let connections = Atomic<Int>(0)
    /// A descriptor whose signals end a wait of the daemon; -1 if the system had none.
    private let wakeUp: Int32
    /// The options of the daemon, which reads them while it runs.
    private let options: UnsafeMutablePointer<realm_rest_daemon_options>
    /// The daemon of the library; nil before it is started.
    private var daemon: OpaquePointer?

    /// Makes a thread that is not started.
    ///
    /// - Parameter server: The listener whose connections it will serve.
    init(server: HTTPServer) {
        self.server = server
        wakeUp = realm_rest_signal_new()
        unsafe options = UnsafeMutablePointer<realm_rest_daemon_options>.allocate(capacity: 1)
        unsafe options.initialize(to: realm_rest_daemon_options())
    }

    deinit {
        close(wakeUp)
        unsafe options.deallocate()
    }

    var load: Int { connections.load(ordering: .relaxed) }

    /// Starts the thread. The library does not retain this object, so it has to stay alive until `stop`.
    ///
    /// - Parameters:
    ///   - connections: The greatest number of its connections.
    ///   - memory: The memory for each of them, in bytes.
    /// - Returns: Whether it runs; the reason is in `errno` otherwise.
    func start(connections: Int, memory: Int) -> Bool {
        unsafe options.pointee = unsafe DaemonCallbacks.options(for: self)
        unsafe options.pointee.connections = UInt32(clamping: connections)
        unsafe options.pointee.idle_seconds = UInt32(server.configuration.limits.idleSeconds)
        unsafe options.pointee.connection_memory = memory
        unsafe daemon = unsafe realm_rest_start_daemon(options)
        guard let daemon = unsafe daemon else { return false }
        if unsafe realm_rest_wake_by(daemon, wakeUp) != 0 { return true }
        let reason = errno
        stop()
        errno = reason
        return false
    }

    /// Whether the library may wait although connections are ready: it does so after exactly 128 events, until the next event.
    var canStall: Bool { load >= Int(REALM_REST_EVENTS_AT_ONCE) - 2 }

    /// Ends a wait of the library.
    func wake() { realm_rest_signal(wakeUp) }

    /// Ends the thread, which must not have suspended connections. Others are closed. No connection may be handed over after
    /// that.
    func stop() {
        if let daemon = unsafe daemon { unsafe MHD_stop_daemon(daemon) }
        unsafe daemon = nil
    }

    /// Accepts a connection and gives it to this thread.
    ///
    /// - Parameter socket: The listening socket.
    /// - Returns: False when no connection was accepted; the reason is in `errno`.
    func accept(from socket: Int32) -> Bool {
        guard let daemon = unsafe daemon else { return false }
        // It is counted before the thread can report its end.
        connections.add(1, ordering: .relaxed)
        switch unsafe realm_rest_accept(socket, daemon) {
        case realm_rest_accepted: return true
        case realm_rest_refused:
            noteEnd()
            return true
        default:
            noteEnd()
            return false
        }
    }

    /// Records that a connection of the thread has ended.
    func noteEnd() { connections.subtract(1, ordering: .relaxed) }
}
