// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The connections of one thread of the daemon that are resumed to send their responses.
///
/// Resuming a connection wakes its thread, which then takes the processor, perhaps from the one that has responses for more of
/// its connections: a commit has one for each waiting client. So one connection wakes the thread, which then resumes those added
/// in the meantime.
///
/// That only works for connections whose request is complete: the library calls the server for each of them when it is resumed, or else
/// when it closes the connection.
package final class ResumptionQueue: Sendable {
    /// A connection that is to be resumed.
    private struct Entry {
        /// The connection, which is suspended, and no longer in any table.
        let connection: ConnectionPointer
        /// Called when it was resumed.
        let didResume: @Sendable () -> Void
    }

    /// The contents, under the lock.
    private struct State {
        /// The connections that the thread of the daemon resumes.
        var waiting: [Entry] = []
        /// Whether a connection was resumed, and the thread has not called the server since.
        var isWaking = false
    }

    private let state = RankedMutex(.leaf, State())
    /// Whether `state` may have anything for the thread, so that it need not take the lock to know.
    private let mayHave = Atomic<Bool>(false)

    /// Resumes a connection, or has it resumed by its thread, which was woken and is about to come.
    ///
    /// - Parameters:
    ///   - connection: A suspended connection of the thread, which no other code resumes.
    ///   - didResume: Called when it was resumed, on any thread.
    func resume(_ connection: ConnectionPointer, _ didResume: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            if state.isWaking {
                state.waiting.append(Entry(connection: connection, didResume: didResume))
                return false
            }
            state.isWaking = true
            mayHave.store(true, ordering: .relaxed)
            return true
        }
        guard isFirst else { return }
        unsafe MHD_resume_connection(connection.pointer)
        didResume()
    }

    /// Resumes the connections that wait. The thread of the daemon calls it before it sends a response, and when a request has ended.
    func resumeWaiting() {
        guard mayHave.load(ordering: .relaxed) else { return }
        let waiting = state.withLock { state -> [Entry] in
            state.isWaking = false
            mayHave.store(false, ordering: .relaxed)
            defer { state.waiting = [] }
            return state.waiting
        }
        for entry in waiting {
            unsafe MHD_resume_connection(entry.connection.pointer)
            entry.didResume()
        }
    }
}
