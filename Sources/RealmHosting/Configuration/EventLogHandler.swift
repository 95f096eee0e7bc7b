// SPDX-License-Identifier: Apache-2.0

package import Logging
package import MicroHTTP
internal import RealmPlatform

/// Writes messages of loggers, such as that of the engine, as events into the log of the server.
package struct EventLogHandler: LogHandler {
    private let log: AccessLog
    package var metadata: Logger.Metadata = [:]
    /// The log has its own level, which may change.
    package var logLevel = Logger.Level.debug

    /// Makes a logger for the events of the server.
    package static func logger(_ log: AccessLog) -> Logger { Logger(label: "realm-rest") { _ in EventLogHandler(log: log) } }

    private init(log: AccessLog) { self.log = log }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let level: AccessLog.Level =
            switch event.level {
            case .trace, .debug: .debug
            case .info, .notice: .info
            case .warning: .warning
            case .error, .critical: .error
            }
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let members = all.filter { $0.key != "realm" }.sorted { $0.key < $1.key }
        log.note(
            "\(event.message)", realm: all["realm"].map { "\($0)" } ?? "", level: level,
            members: members.map { ($0.key, "\($0.value)") })
    }
}
