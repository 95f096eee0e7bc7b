// SPDX-License-Identifier: Apache-2.0

internal import CMappings
internal import CProcessor  // its headers are where the compiler finds attributes of threads
internal import Glibc

/// Starts threads of the operating system, so that work that blocks stays off the cooperative pool.
///
/// A blocked thread of the cooperative pool would stall unrelated tasks, so disks, the C library of HTTP and long queries have
/// threads of their own. A thread cannot be cancelled: its work has to end.
package enum Threads {
    /// The data that a new thread is started with: its name and its work.
    private final class Start {
        /// The name that debuggers and tools such as top show.
        let name: String
        /// The work of the thread.
        let body: @Sendable () -> Void

        /// Makes the data of a new thread, which takes it over when it starts.
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// The error when the system does not start another thread: a limit on processes, or no memory for a stack.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        /// The system's error number for the failed start of a thread.
        package let code: Int32

        /// The error in words, for logs.
        package var description: String { unsafe "a thread cannot be made: \(String(cString: strerror(code)))" }
    }

    /// Starts a detached thread, which ends when `body` returns.
    ///
    /// - Parameters:
    ///   - name: The name of the thread; at most 15 characters are kept.
    ///   - stackBytes: The size of its stack, which takes addresses, and memory only where it is
    ///     used.
    ///   - body: The work of the thread.
    /// - Throws: `Failure` when the limit on threads is reached; the caller then does the work in
    ///   another way or rejects it.
    package static func start(
        _ name: String, stackBytes: Int = 4 << 20, _ body: @escaping @Sendable () -> Void
    ) throws(Failure) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        // The new thread releases the reference.
        let start = unsafe Unmanaged.passRetained(Start(name, body))
        let failure = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                Threads.nameCurrent(start.name)
                start.body()
                return nil
            }, unsafe start.toOpaque())
        guard failure == 0 else {
            unsafe start.release()
            throw Failure(code: failure)
        }
    }

    /// Gives the calling thread the name that debuggers and top show.
    private static func nameCurrent(_ name: String) {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = unsafe name.withCString { unsafe write(file, $0, min(strlen($0), 15)) }
        close(file)
    }

    /// Gives the calling thread less of the processors than others while these have work.
    ///
    /// - Parameter steps: The decrease, as `nice` counts it.
    package static func lowerPriority(by steps: Int32) {
        let which = __priority_which_t(PRIO_PROCESS.rawValue)
        setpriority(which, 0, min(19, getpriority(which, 0) + steps))
    }

    /// Lets other threads that wake up have the processor of the calling thread at once, which otherwise keeps it for some milliseconds. The
    /// thread works for long at a time and gets as much of the processors as before. Where the system has no such thing, nothing changes.
    package static func letOthersIn() { _ = realm_rest_set_slice(100_000_000) }

    /// Suspends the calling thread for a number of seconds, at most 4000.
    package static func sleep(seconds: Double) { usleep(UInt32(max(0, min(seconds, 4000)) * 1_000_000)) }

    /// The number of processors that are online.
    package static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
