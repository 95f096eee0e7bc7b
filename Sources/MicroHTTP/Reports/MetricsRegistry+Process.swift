// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

extension MetricsRegistry {
    /// Adds what the process takes of the machine, by the names that dashboards know from other programs.
    ///
    /// - Parameter start: When the process began to serve.
    package func addProcess(start: WallClock) {
        add { text in
            let usage = ProcessUsage.now()
            text.common(
                "process_resident_memory_bytes", .gauge, help: "Memory of the process in RAM, with touched pages of files.",
                value: Double(usage.residentByteCount))
            text.common(
                "process_virtual_memory_bytes", .gauge, help: "Memory that the process has reserved, with mapped files.",
                value: Double(usage.virtualByteCount))
            text.common(
                "process_cpu_seconds_total", .counter, help: "Processor time of all threads.", value: usage.processorSeconds)
            text.common(
                "process_open_fds", .gauge, help: "Open files, sockets and pipes.", value: Double(usage.openFileCount))
            if let limit = usage.openFileLimit {
                text.common("process_max_fds", .gauge, help: "The most of them that the system allows.", value: Double(limit))
            }
            text.common(
                "process_start_time_seconds", .gauge, help: "When the server was started, in seconds since 1970.",
                value: Double(start.nanoseconds / 1_000_000) / 1000)
        }
    }
}
