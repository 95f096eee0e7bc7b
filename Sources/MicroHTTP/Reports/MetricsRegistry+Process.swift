// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

extension MetricsRegistry {
    /// Adds the resources of the process, by the names that dashboards know from other programs.
    ///
    /// - Parameter start: The time at which the process began to serve.
    package func addProcess(start: WallClock) {
        add { text in
            let usage = ProcessUsage.now()
            var process = MetricsText(prefix: "process_")
            process.gauge(
                "resident_memory_bytes", "Memory of the process in RAM, with touched pages of files.", usage.residentByteCount)
            process.gauge(
                "virtual_memory_bytes", "Memory that the process has reserved, with mapped files.", usage.virtualByteCount)
            process.counter("cpu_seconds_total", "Processor time of all threads.", usage.processorSeconds)
            process.gauge("open_fds", "Open files, sockets and pipes.", usage.openFileCount)
            if let limit = usage.openFileLimit {
                process.gauge("max_fds", "Maximum number of open files, sockets and pipes.", limit)
            }
            process.gauge(
                "start_time_seconds", "Start time of the server, in seconds since 1970.",
                Double(start.nanoseconds / 1_000_000) / 1000)
            text.append(process)
        }
    }
}
