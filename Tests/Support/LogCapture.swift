// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import Synchronization

/// Keeps what is logged, one text for each message: level, message and metadata in the order of their names.
package final class LogCapture: Sendable {
    private let kept = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { kept.withLock { $0 } }

    /// A logger whose messages are kept here.
    package var logger: Logger {
        Logger(label: "test") { [self] _ in Handler(capture: self) }
    }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            let words = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            capture.kept.withLock { $0.append((["\(event.level): \(event.message)"] + words).joined(separator: " ")) }
        }
    }
}
