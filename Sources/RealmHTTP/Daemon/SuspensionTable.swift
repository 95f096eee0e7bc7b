// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Synchronization

/// Something that waits with its connection suspended.
protocol Suspended: AnyObject, Sendable {
    /// The server ends: whatever was awaited will not come.
    func abandon()
}

/// The suspended connections, so that each is resumed exactly once, also when the server ends.
final class SuspensionTable: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [UInt: any Suspended] = [:]
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.waiting.count } }

    /// Suspends a connection on behalf of `waiter`; false when the server is ending.
    ///
    /// Only from within a callback of the daemon for this connection.
    func suspend(_ connection: OpaquePointer, for waiter: any Suspended) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            MHD_suspend_connection(connection)
            state.waiting[UInt(bitPattern: connection)] = waiter
            return true
        }
    }

    /// Resumes a connection if it is suspended; any thread may call this.
    func resume(_ connection: OpaquePointer) {
        state.withLock { state in
            guard state.waiting.removeValue(forKey: UInt(bitPattern: connection)) != nil else { return }
            MHD_resume_connection(connection)
        }
    }

    /// Resumes everything and lets nothing be suspended any more.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return Array(state.waiting.values)
        }
        for waiter in waiters { waiter.abandon() }
        state.withLock { state in
            for key in state.waiting.keys {
                if let connection = OpaquePointer(bitPattern: key) { MHD_resume_connection(connection) }
            }
            state.waiting = [:]
        }
    }
}
