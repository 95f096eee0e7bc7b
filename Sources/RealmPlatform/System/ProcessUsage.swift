// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The resources that this process uses, as the system counts them.
package struct ProcessUsage: Sendable {
    /// The memory of the process that is in RAM, in bytes. Pages of mapped files count as far as the process has touched them.
    package let residentByteCount: Int
    /// The memory that the process has reserved, in bytes, with all of its mappings.
    package let virtualByteCount: Int
    /// The processor time that its threads have taken, in seconds.
    package let processorSeconds: Double
    /// The number of open files, sockets and pipes.
    package let openFileCount: Int
    /// The number of those that the system allows; nil for any number.
    package let openFileLimit: Int?

    /// Asks the system; unreported values are 0.
    package static func now() -> ProcessUsage {
        let pages = numbers(System.systemList("/proc/self/statm"))
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return ProcessUsage(
            residentByteCount: (pages.count > 1 ? pages[1] : 0) * System.pageByteCount,
            virtualByteCount: (pages.first ?? 0) * System.pageByteCount,
            processorSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
            // The list is read by a descriptor of its own.
            openFileCount: max(0, ((try? System.names(inFolder: "/proc/self/fd").count) ?? 0) - 1),
            openFileLimit: isKnown ? Int(exactly: limit.rlim_cur) : nil)
    }

    /// Returns the numbers of a line that spaces separate.
    private static func numbers(_ line: [UInt8]) -> [Int] {
        line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
    }
}
