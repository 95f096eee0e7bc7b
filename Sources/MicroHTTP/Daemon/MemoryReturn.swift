// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Returns memory to the system after requests that used much of it.
///
/// The allocator of the C library keeps freed memory, in several arenas, and the end of each arena. This type limits the number
/// of arenas and the length of an end, once for the whole process, and returns freed memory soon after a large request.
package final class MemoryReturn: Sendable {
    /// Whether a return is planned already.
    private let isDue = Atomic<Bool>(false)
    /// Starts a planned return.
    private let timers: TimerQueue

    /// The seconds after the end of a large request until memory is returned. By then the request has been released, and requests
    /// that end in the meantime share the return.
    private static let seconds = 2.0
    /// The number of bytes above which a request or response counts as large.
    private static let largeByteCount = 1 << 20
    /// The number of seconds above which a request counts as large, because long work often uses much memory.
    private static let longSeconds = 0.5
    /// The limit of arenas of the allocator. More than there are threads running at the same time would gain nothing.
    private static let pieceCount = max(4, 2 * Threads.processorCount)
    /// The bytes that the allocator keeps at the end of an arena. Single blocks above this size are returned as soon as they are
    /// freed.
    private static let keptByteCount = 4 << 20
    /// Sets the limits of the allocator, when it is first used; they apply to the whole process.
    private static let boundOfProcess: Void = realm_rest_bound_kept_memory(Int32(clamping: pieceCount), Int32(keptByteCount))

    /// Sets the limits of the allocator, unless that was done before.
    ///
    /// - Parameter timers: Starts the returns.
    package init(_ timers: TimerQueue) {
        self.timers = timers
        MemoryReturn.boundOfProcess
    }

    /// Records that a request ended, and plans a return of memory if it was large.
    ///
    /// - Parameters:
    ///   - bytesReceived: Bytes of its body.
    ///   - bytesSent: Bytes of its response.
    ///   - seconds: The duration of the request.
    ///   - workers: The pool on which memory is returned, as that takes a while.
    package func note(bytesReceived: Int, bytesSent: Int, seconds: Double, _ workers: WorkerPool) {
        guard max(bytesReceived, bytesSent) > MemoryReturn.largeByteCount || seconds > MemoryReturn.longSeconds,
            !isDue.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        timers.set(at: Instant.now().adding(seconds: MemoryReturn.seconds)) { [self] in
            let isQueued = workers.submit(for: WorkerPool.server) { [self] in
                isDue.store(false, ordering: .releasing)
                realm_rest_return_memory()
            }
            if !isQueued { isDue.store(false, ordering: .releasing) }
        }
    }
}
