// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The suspended connections of a server. It ensures that each is resumed exactly once, also when the server stops.
///
/// The connections are distributed over 16 locks, because a commit resumes many of them while
/// others are being suspended. No lock is held while a connection is resumed: that wakes the thread of
/// the daemon, which may suspend the same connection again before the one that resumes it runs on.
final class SuspensionTable: Sendable {
    /// The contents of one part, under its lock.
    private struct State {
        /// Whether the server is stopping, so that no connection can be suspended.
        var isClosed = false
        /// The waiter of each suspended connection, by the address of the connection in the library.
        var waiting: [UInt: Waiting] = [:]
    }

    /// The wait of a suspended connection.
    private struct Waiting {
        /// The waiter that resumes it.
        let waiter: any Suspended
        /// Whether the connection was taken, so that it cannot be resumed.
        var isTaken = false
    }

    /// The connections that share one lock.
    private final class Part: Sendable {
        let state = RankedMutex(.suspensions, State())
        /// The number of connections that were taken and not returned, or are being resumed. It grows under the lock only.
        let inUse = Atomic<Int>(0)

        /// Resumes a connection that is no longer in the table, and that was counted as in use.
        func resume(_ connection: OpaquePointer) {
            unsafe MHD_resume_connection(connection)
            inUse.subtract(1, ordering: .releasing)
        }
    }

    private let parts = (0..<16).map { _ in Part() }

    /// The number of suspended connections.
    var count: Int { parts.reduce(0) { $0 + $1.state.withLock { $0.waiting.count } } }

    /// Returns the part that a connection belongs to.
    private func part(of connection: UInt) -> Part {
        // The lowest bits of all addresses are equal, so an address is mixed before bits of it
        // choose a part.
        parts[Int(truncatingIfNeeded: (connection &* 0x9e37_79b9_7f4a_7c15) >> 60)]
    }

    /// Suspends a connection. It may be called only in a callback of the daemon for this connection.
    ///
    /// - Parameters:
    ///   - connection: The connection in the library.
    ///   - waiter: The object that the connection waits for, retained until the connection is resumed.
    /// - Returns: False when the server is stopping; the connection is not suspended then.
    func suspend(_ connection: OpaquePointer, for waiter: any Suspended) -> Bool {
        let key = UInt(bitPattern: connection)
        return part(of: key).state.withLock { state in
            guard !state.isClosed else { return false }
            unsafe MHD_suspend_connection(connection)
            state.waiting[key] = Waiting(waiter: waiter)
            return true
        }
    }

    /// Resumes a connection if it is suspended for this waiter. Any thread may call it, at any time.
    ///
    /// A late caller may hold the address of a connection that is gone, while another one has been
    /// made at the same address: that one is not resumed, because it waits for something else.
    ///
    /// - Parameters:
    ///   - connection: The address of the connection, which need not exist.
    ///   - waiter: The object that the connection should be waiting for.
    func resume(_ connection: OpaquePointer, for waiter: any Suspended) {
        if let part = unsafe claim(connection, for: waiter) { unsafe part.resume(connection) }
    }

    /// Resumes a connection like `resume(_:for:)`, to send the response to a complete request. Its thread resumes the connections
    /// of later responses, if it has been woken for one.
    ///
    /// - Parameters:
    ///   - connection: The address of the connection, which need not exist.
    ///   - waiter: The object that the connection should be waiting for.
    ///   - queue: The queue of the connection's thread.
    func resume(_ connection: OpaquePointer, for waiter: any Suspended, through queue: ResumptionQueue) {
        guard let part = unsafe claim(connection, for: waiter) else { return }
        queue.resume(unsafe ConnectionPointer(pointer: connection)) { part.inUse.subtract(1, ordering: .releasing) }
    }

    /// Takes a connection out of the table, if it is suspended for this waiter. The caller has to resume it.
    ///
    /// - Returns: The part that it was in, which counts it as in use; nil if it is not to be resumed.
    private func claim(_ connection: OpaquePointer, for waiter: any Suspended) -> Part? {
        let key = UInt(bitPattern: connection)
        let part = part(of: key)
        let isSuspended = part.state.withLock { state in
            guard let index = state.waiting.index(forKey: key), state.waiting.values[index].waiter === waiter,
                !state.waiting.values[index].isTaken
            else { return false }
            // The caller holds the waiter, so its last reference is not released under the lock.
            state.waiting.remove(at: index)
            part.inUse.add(1, ordering: .relaxed)
            return true
        }
        return isSuspended ? part : nil
    }

    /// Takes a suspended connection, to send on its socket. The connection stays suspended, and the socket open, until it is
    /// returned, which has to be soon.
    ///
    /// - Parameters:
    ///   - connection: The address of the connection, which need not exist.
    ///   - waiter: The object that the connection should be waiting for.
    /// - Returns: False when it waits for something else, or is not suspended.
    func take(_ connection: OpaquePointer, for waiter: any Suspended) -> Bool {
        let key = UInt(bitPattern: connection)
        let part = part(of: key)
        return part.state.withLock { state in
            guard !state.isClosed, let index = state.waiting.index(forKey: key),
                state.waiting.values[index].waiter === waiter
            else { return false }
            state.waiting.values[index].isTaken = true
            part.inUse.add(1, ordering: .relaxed)
            return true
        }
    }

    /// Gives back a connection that was taken.
    ///
    /// - Parameters:
    ///   - isResumed: Whether it is resumed instead of waiting on.
    func giveBack(_ connection: OpaquePointer, isResumed: Bool) {
        let key = UInt(bitPattern: connection)
        let part = part(of: key)
        // The caller retains the waiter.
        part.state.withLock { state in
            if isResumed { state.waiting[key] = nil } else { state.waiting[key]?.isTaken = false }
        }
        if isResumed { unsafe part.resume(connection) } else { part.inUse.subtract(1, ordering: .releasing) }
    }

    /// Abandons all waiters and resumes their connections. Nothing can be suspended or taken after this.
    func close() {
        for part in parts { part.state.withLock { $0.isClosed = true } }
        // A thread that has taken a connection sends on its socket, which is closed after this, and does not wait.
        waitWhileInUse()
        let waiters = parts.flatMap { part in
            part.state.withLock { $0.waiting.values.map(\.waiter) }
        }
        for waiter in waiters { waiter.abandon() }
        for part in parts {
            part.state.withLock { state in
                for key in state.waiting.keys {
                    if let connection = unsafe OpaquePointer(bitPattern: key) { unsafe MHD_resume_connection(connection) }
                }
                state.waiting = [:]
            }
        }
        // Other threads have taken connections out of the table in the meantime, to resume them.
        waitWhileInUse()
        withExtendedLifetime(waiters) {}
    }

    /// Waits until no connection is taken, or about to be resumed.
    private func waitWhileInUse() {
        while parts.contains(where: { $0.inUse.load(ordering: .acquiring) > 0 }) { Threads.sleep(seconds: 0.001) }
    }
}

/// Something on whose behalf a connection is suspended, and which resumes the connection when it is
/// ready. See `SuspensionTable`.
protocol Suspended: AnyObject, Sendable {
    /// Called when the server stops: the awaited result will not come. The connection is resumed by this call or right after it,
    /// and its next step has to end the response.
    func abandon()
}

/// The address of a connection in the library, made sendable: it is only passed to the library,
/// which may be called from any thread to resume the connection.
@safe package struct ConnectionPointer: @unchecked Sendable {
    /// The connection. It may be gone, so it is used only through the `SuspensionTable`.
    let pointer: OpaquePointer
}
