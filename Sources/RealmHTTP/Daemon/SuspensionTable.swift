// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmStorage

/// The suspended connections, so that each is resumed exactly once, also when the server ends.
///
/// They are spread over several locks: a commit resumes many connections while others are being suspended.
final class SuspensionTable: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [UInt: any Suspended] = [:]
    }

    /// A part of the connections.
    private final class Part: Sendable {
        let state = RankedMutex(.suspensions, State())
    }

    private let parts = (0..<16).map { _ in Part() }

    /// Connections that sleep.
    var count: Int { parts.reduce(0) { $0 + $1.state.withLock { $0.waiting.count } } }

    private func part(of connection: UInt) -> Part {
        // Addresses of connections differ in their upper bits only.
        parts[Int(truncatingIfNeeded: (connection &* 0x9e37_79b9_7f4a_7c15) >> 60)]
    }

    /// Suspends a connection on behalf of `waiter`; false when the server is ending.
    ///
    /// Only from within a callback of the daemon for this connection.
    func suspend(_ connection: OpaquePointer, for waiter: any Suspended) -> Bool {
        let key = UInt(bitPattern: connection)
        return part(of: key).state.withLock { state in
            guard !state.isClosed else { return false }
            unsafe MHD_suspend_connection(connection)
            state.waiting[key] = waiter
            return true
        }
    }

    /// Resumes a connection if it is suspended on behalf of `waiter`; any thread may call this.
    ///
    /// Whoever comes late may hold the address of a connection that is gone, and another may live there by now: that one
    /// is not resumed, as what it waits for has not come.
    func resume(_ connection: OpaquePointer, for waiter: any Suspended) {
        let key = UInt(bitPattern: connection)
        part(of: key).state.withLock { state in
            guard state.waiting[key] === waiter else { return }
            state.waiting[key] = nil
            unsafe MHD_resume_connection(connection)
        }
    }

    /// Resumes those of many connections that are suspended.
    func resume(_ bodies: [EventBody]) {
        for body in bodies { unsafe resume(body.connection.pointer, for: body) }
    }

    /// Resumes everything and lets nothing be suspended any more.
    func close() {
        let waiters = parts.flatMap { part in
            part.state.withLock { state in
                state.isClosed = true
                return Array(state.waiting.values)
            }
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
        withExtendedLifetime(waiters) {}
    }
}
