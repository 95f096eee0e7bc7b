// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmStorage
internal import Synchronization

/// Gives memory back to the system after requests that took much of it: the allocator keeps what was freed in pieces,
/// and of each its end. How many pieces there are and how long an end may be is bounded for the whole process.
final class MemoryReturn: Sendable {
    private let isDue = Atomic<Bool>(false)
    private let alarm: Alarm

    /// Between two returns at the least; also the time in which a request can let go of what it has.
    private static let seconds = 2.0
    /// What is worth the trouble.
    private static let largeByteCount = 1 << 20
    private static let longSeconds = 0.5
    /// Threads share as many pieces; more than run at the same time gain nothing.
    private static let pieceCount = max(4, 2 * Threads.processorCount)
    /// What the end of a piece keeps. Blocks above this are given back as soon as they are freed.
    private static let keptByteCount = 4 << 20
    /// Once for the process, as the settings of the allocator are.
    private static let boundOfProcess: Void = realm_rest_bound_kept_memory(Int32(clamping: pieceCount), Int32(keptByteCount))

    /// Bounds what the allocator keeps, once for the process, and returns memory by the thread of `alarm`.
    init(_ alarm: Alarm) {
        self.alarm = alarm
        MemoryReturn.boundOfProcess
    }

    /// A request ended.
    func note(bytesReceived: Int, bytesSent: Int, seconds: Double, _ workers: WorkerPool) {
        guard max(bytesReceived, bytesSent) > MemoryReturn.largeByteCount || seconds > MemoryReturn.longSeconds,
            !isDue.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        alarm.set(at: Instant.now().adding(seconds: MemoryReturn.seconds)) { [self] in
            let isQueued = workers.submit(for: WorkerPool.server) { [self] in
                isDue.store(false, ordering: .releasing)
                realm_rest_return_memory()
            }
            if !isQueued { isDue.store(false, ordering: .releasing) }
        }
    }
}
