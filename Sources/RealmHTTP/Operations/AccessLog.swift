// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage
internal import Synchronization

/// One line per request on standard output.
///
/// Lines are collected and written by a thread of their own, so that a slow reader of the log does not slow down
/// answers; when too much waits, lines are dropped and counted.
package final class AccessLog: Sendable {
    /// How a line is written: one JSON object, or words for people.
    package enum Format: String, Sendable, CaseIterable {
        case json, text
    }

    /// What is worth a line.
    package enum Level: Int, Sendable, CaseIterable {
        /// Every request, with its predicate.
        case debug
        /// Every request.
        case info
        /// Those that failed.
        case warning
        /// Those that failed through no fault of the client.
        case error

        package var name: String { String(describing: self) }

        /// The level of that name on the command line; nil when there is none.
        package init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        fileprivate func covers(status: Int) -> Bool {
            switch self {
            case .debug, .info: return true
            case .warning: return status >= 400
            case .error: return status >= 500
            }
        }
    }

    /// The level that counts now; any thread may change it.
    package final class LevelSwitch: Sendable {
        private let value: Atomic<Int>

        /// A switch that stands at `level`.
        package init(_ level: Level = .info) { value = Atomic(level.rawValue) }

        package var current: Level { Level(rawValue: value.load(ordering: .relaxed)) ?? .info }
        /// Counts from the next line on.
        package func set(_ level: Level) { value.store(level.rawValue, ordering: .relaxed) }
    }

    /// What is told of a request.
    package struct Entry: Sendable {
        package var id: String
        package var method: String
        package var route: String
        package var status: Int
        package var bytes: Int
        package var seconds: Double
        package var principal: String?
        package var version: String?
        package var traceparent: String?
        package var query: String?

        package init(
            id: String, method: String, route: String, status: Int, bytes: Int, seconds: Double, principal: String?,
            version: String?, traceparent: String?, query: String?
        ) {
            self.id = id
            self.method = method
            self.route = route
            self.status = status
            self.bytes = bytes
            self.seconds = seconds
            self.principal = principal
            self.version = version
            self.traceparent = traceparent
            self.query = query
        }
    }

    private struct State {
        var pending = OutputBuffer()
        var dropped = 0
        var isClosed = false
        /// Whether nothing is written yet.
        var isHeld: Bool
    }

    private static let pendingLimit = 8 << 20
    private let format: Format
    private let monitor: Monitor<State>
    private let writerEnded = Monitor(false)
    private let descriptor: Int32
    /// What is worth a line.
    let level: LevelSwitch

    /// A log that is held collects lines until `release`, so that something else can be written before.
    package init(
        format: Format, level: Level = .info, descriptor: Int32 = STDOUT_FILENO, isHeld: Bool = false
    ) throws(Threads.Failure) {
        monitor = Monitor(State(isHeld: isHeld))
        self.format = format
        self.level = LevelSwitch(level)
        self.descriptor = descriptor
        try Threads.start("log", stackBytes: 512 << 10) { [self] in writeLines() }
    }

    /// Adds a line about a request, when its status is worth one. Never waits for whoever reads the log.
    package func write(_ entry: Entry) {
        let level = level.current
        guard level.covers(status: entry.status) else { return }
        var entry = entry
        if level != .debug { entry.query = nil }
        let now = WallClock.now()
        monitor.signal { state in
            guard state.pending.count < AccessLog.pendingLimit, !state.isClosed else {
                state.dropped += 1
                return
            }
            switch format {
            case .json: AccessLog.appendJSON(entry, now, to: state.pending)
            case .text: AccessLog.appendText(entry, now, to: state.pending)
            }
        }
    }

    /// A line about a realm that no request is to blame for.
    package func note(_ event: StaticString, realm: String, _ detail: String, level: Level) {
        guard level.rawValue >= self.level.current.rawValue else { return }
        let now = WallClock.now()
        monitor.signal { state in
            guard state.pending.count < AccessLog.pendingLimit, !state.isClosed else {
                state.dropped += 1
                return
            }
            AccessLog.append(event, of: realm, detail, at: now, format, to: state.pending)
        }
    }

    private static func append(
        _ event: StaticString, of realm: String, _ detail: String, at now: WallClock, _ format: Format, to buffer: OutputBuffer
    ) {
        let isJSON = format == .json
        buffer.append(isJSON ? "{\"time\":\"" : "" as StaticString)
        buffer.append(logTime: now)
        buffer.append(isJSON ? "\",\"event\":\"" : " " as StaticString)
        buffer.append(event)
        buffer.append(isJSON ? "\",\"realm\":" : " " as StaticString)
        buffer.append(jsonString: realm)
        buffer.append(isJSON ? ",\"detail\":" : " " as StaticString)
        buffer.append(jsonString: detail)
        buffer.append(isJSON ? "}\n" : "\n" as StaticString)
    }

    /// Lets lines out that were held back until the server said that it listens.
    package func release() { monitor.broadcast { $0.isHeld = false } }

    /// Lines that were lost because nobody took them in time.
    package var droppedLines: Int { monitor.withLock { $0.dropped } }

    /// Writes what is left and ends, after `seconds` at the latest: nobody may be reading.
    package func close(seconds: Double = 2) {
        monitor.broadcast { $0.isClosed = true }
        _ = writerEnded.wait(until: Instant.now().adding(seconds: seconds)) { $0 ? true : nil }
    }

    private func writeLines() {
        while true {
            let (lines, isClosed) =
                monitor.wait { state -> (OutputBuffer, Bool)? in
                    guard state.isClosed || (!state.pending.isEmpty && !state.isHeld) else { return nil }
                    let lines = state.pending
                    state.pending = OutputBuffer()
                    return (lines, state.isClosed)
                } ?? (OutputBuffer(), true)
            writeAll(lines)
            if isClosed { break }
            // A short rest gathers the lines of many requests into one write.
            Threads.sleep(seconds: 0.01)
        }
        writerEnded.broadcast { $0 = true }
    }

    private func writeAll(_ lines: OutputBuffer) {
        let bytes = lines.array
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            written += count
        }
    }

    private static func appendJSON(_ entry: Entry, _ now: WallClock, to buffer: OutputBuffer) {
        buffer.append("{\"time\":\"" as StaticString)
        buffer.append(logTime: now)
        buffer.append("\",\"id\":" as StaticString)
        buffer.append(jsonString: entry.id)
        buffer.append(",\"method\":" as StaticString)
        buffer.append(jsonString: entry.method)
        buffer.append(",\"route\":\"" as StaticString)
        buffer.append(entry.route)
        buffer.append("\",\"status\":" as StaticString)
        buffer.append(decimal: Int64(entry.status))
        buffer.append(",\"bytes\":" as StaticString)
        buffer.append(decimal: Int64(entry.bytes))
        buffer.append(",\"duration\":" as StaticString)
        buffer.append(milliseconds: entry.seconds)
        appendMember(",\"principal\":", entry.principal, to: buffer)
        appendMember(",\"version\":", entry.version, to: buffer)
        if entry.query != nil { appendMember(",\"query\":", entry.query, to: buffer) }
        if entry.traceparent != nil { appendMember(",\"traceparent\":", entry.traceparent, to: buffer) }
        buffer.append("}\n" as StaticString)
    }

    private static func appendMember(_ name: StaticString, _ text: String?, to buffer: OutputBuffer) {
        buffer.append(name)
        if let text { buffer.append(jsonString: text) } else { buffer.append("null" as StaticString) }
    }

    private static func appendText(_ entry: Entry, _ now: WallClock, to buffer: OutputBuffer) {
        buffer.append(logTime: now)
        buffer.append(UInt8(ascii: " "))
        buffer.append(decimal: Int64(entry.status))
        buffer.append(UInt8(ascii: " "))
        buffer.append(printable(entry.method))
        buffer.append(UInt8(ascii: " "))
        buffer.append(entry.route)
        buffer.append(UInt8(ascii: " "))
        buffer.append(decimal: Int64(entry.bytes))
        buffer.append(" B " as StaticString)
        buffer.append(milliseconds: entry.seconds)
        buffer.append(" ms " as StaticString)
        buffer.append(entry.id)
        if let query = entry.query {
            buffer.append(UInt8(ascii: " "))
            buffer.append(jsonString: query)
        }
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Methods come from clients; nothing of theirs may start a new line.
    private static func printable(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value > 0x20 && $0.value < 0x7f ? Character($0) : "?" })
    }
}
