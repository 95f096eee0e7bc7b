// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The log of the server on standard output: a line for each request, and for each event that no request has caused.
///
/// Lines are collected in memory and written by a separate thread, so that a slow reader of the log does not delay responses.
/// When more than 8 MiB wait to be written, later lines are dropped and counted. Any thread may add lines; a `Monitor` guards the
/// collected text.
package final class AccessLog: Sendable {
    /// The form of a line: a JSON object for programs, or words separated by blanks for people.
    package enum Format: String, Sendable, CaseIterable {
        /// One JSON object per line, or words separated by blanks.
        case json, text
    }

    /// The importance that a request needs to get a line. The cases go from the most lines to the fewest.
    package enum Level: Int, Sendable, CaseIterable {
        /// Logs every request, with the text of its query.
        case debug
        /// Logs every request.
        case info
        /// Logs requests with a status from 400 on.
        case warning
        /// Logs requests with a status from 500 on.
        case error

        /// The name of the level on the command line and in the administration API.
        package var name: String { String(describing: self) }

        /// Makes the log level of a name; nil when no level has it.
        package init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        /// Whether a request with this HTTP status gets a line.
        fileprivate func covers(status: Int) -> Bool {
            switch self {
            case .debug, .info: return true
            case .warning: return status >= 400
            case .error: return status >= 500
            }
        }
    }

    /// The level in force, which administrators may change while the server runs. Any thread may read and set it.
    package final class LevelSwitch: Sendable {
        private let value: Atomic<Int>

        /// Makes a switch for the level of the log.
        ///
        /// - Parameter level: The level that is in force at first.
        package init(_ level: Level = .info) { value = Atomic(level.rawValue) }

        /// The level of the log that is in force.
        package var current: Level { Level(rawValue: value.load(ordering: .relaxed)) ?? .info }
        /// Changes the level of the log, from the next line on.
        package func set(_ level: Level) { value.store(level.rawValue, ordering: .relaxed) }
    }

    /// The facts about one request that a line of the log states.
    package struct Entry: Sendable {
        /// The request id, which is also in the response and in problem documents.
        package var id: String
        /// The method of the request as the client sent it, possibly an unknown one.
        package var method: String
        /// The path template of the route, such as `/v1/realms/{realm}`, so that the log contains no keys.
        package var route: String
        /// The HTTP status, or 499 for a client that disconnected before the response.
        package var status: Int
        /// The number of bytes of the response's body that were sent.
        package var bytes: Int
        /// The seconds from the arrival of the request to the end of the response.
        package var seconds: Double
        /// The authenticated user who sent the request; nil without credentials.
        package var principal: String?
        /// The address of the client, which a trusted proxy may have named; nil when it has none.
        package var client: String?
        /// The token of the version that was read or written; nil when the request concerned none.
        package var version: String?
        /// The header field `traceparent` of the request, for distributed tracing.
        package var traceparent: String?
        /// The text of the query. It is written only at the level `debug`, because it may contain user data.
        package var query: String?
        /// The path of a request that found nothing, without its query and without keys; nil for all others, whose route says enough.
        package var path: String?

        /// Makes an entry from all its facts.
        ///
        /// - Parameters:
        ///   - id: The request id.
        ///   - method: The HTTP method.
        ///   - route: The path template of the route.
        ///   - status: The HTTP status.
        ///   - bytes: The body bytes that were sent.
        ///   - seconds: The duration in seconds.
        ///   - principal: The authenticated user.
        ///   - client: The address of the client.
        ///   - version: The token of the version.
        ///   - traceparent: The tracing header field.
        ///   - query: The text of the query.
        ///   - path: The path of a request that found nothing.
        package init(
            id: String, method: String, route: String, status: Int, bytes: Int, seconds: Double, principal: String?,
            client: String? = nil, version: String?, traceparent: String?, query: String?, path: String? = nil
        ) {
            self.path = path
            self.client = client
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

    /// The collected lines and the state of the thread that writes them.
    private struct State {
        /// The lines of the log that its thread has not taken yet.
        var pending = OutputBuffer()
        /// The number of lines that were dropped because too much was waiting or the log was closed.
        var dropped = 0
        /// Whether the log takes no more lines and its thread ends.
        var isClosed = false
        /// Whether the thread waits for `release` before it writes anything.
        var isHeld: Bool
        /// The form in which lines are written.
        var format: Format
    }

    /// The number of bytes of the log that may wait to be written. Beyond it lines are dropped.
    private static let pendingLimit = 8 << 20
    private let monitor: Monitor<State>
    /// The last lines, which the thread of the log adds.
    private let last = RankedMutex(.leaf, LogTail())
    private let thread = ServiceThread("log")
    /// The file descriptor that the log is written to, normally standard output.
    private let descriptor: Int32
    /// The level of the log that is in force, which administrators may change.
    package let level: LevelSwitch

    /// Makes a log and starts its thread.
    ///
    /// - Parameters:
    ///   - format: The form of the lines.
    ///   - level: The level at first.
    ///   - descriptor: The file descriptor to write to. It stays open.
    ///   - isHeld: Whether lines are collected until `release`, so that the server can print its
    ///     address first.
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package init(
        format: Format, level: Level = .info, descriptor: Int32 = STDOUT_FILENO, isHeld: Bool = false
    ) throws(Threads.Failure) {
        monitor = Monitor(State(isHeld: isHeld, format: format))
        self.level = LevelSwitch(level)
        self.descriptor = descriptor
        try thread.start { [self] in writeLines() }
    }

    /// Changes the form of the lines, from the next line on.
    package func setFormat(_ format: Format) { monitor.withLock { $0.format = format } }

    /// Adds a line about a request, if the level covers its status. Never waits for the reader of the log.
    ///
    /// - Parameter entry: The facts about the request.
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
            switch state.format {
            case .json: AccessLog.appendJSON(entry, now, to: state.pending)
            case .text: AccessLog.appendText(entry, now, to: state.pending)
            }
        }
    }

    /// Adds a line about an event that no request has caused, such as a failure of a file.
    ///
    /// - Parameters:
    ///   - event: Its name, such as `realm_failed`, or a description.
    ///   - realm: The realm that it concerns; empty for none.
    ///   - detail: More about it; nil when there is no more.
    ///   - level: Its importance. It is dropped if the level in force is higher.
    ///   - members: Facts about it, by their names.
    package func note(
        _ event: String, realm: String, _ detail: String? = nil, level: Level, members: [(String, String)] = []
    ) {
        guard level.rawValue >= self.level.current.rawValue else { return }
        let now = WallClock.now()
        monitor.signal { state in
            guard state.pending.count < AccessLog.pendingLimit, !state.isClosed else {
                state.dropped += 1
                return
            }
            let texts = [("realm", realm), ("detail", detail)].compactMap { name, text in text.map { (name, $0) } } + members
            let buffer = state.pending
            let isJSON = state.format == .json
            buffer.append(isJSON ? "{\"time\":\"" : "" as StaticString)
            buffer.append(logTime: now)
            buffer.append(isJSON ? "\",\"level\":\"" : " " as StaticString)
            buffer.append(level.name)
            buffer.append(isJSON ? "\",\"event\":" : " " as StaticString)
            buffer.append(jsonString: event)
            for (name, text) in texts where isJSON || !text.isEmpty {
                buffer.append(isJSON ? "," : " " as StaticString)
                if isJSON { buffer.append(jsonString: name) } else { buffer.append(name) }
                buffer.append(isJSON ? ":" : "=" as StaticString)
                buffer.append(jsonString: text)
            }
            buffer.append(isJSON ? "}\n" : "\n" as StaticString)
        }
    }

    /// Writes the lines that were held, and from then on all others as they come.
    package func release() { monitor.broadcast { $0.isHeld = false } }

    /// The number of lines of the log that were dropped since the start.
    package var droppedLines: Int { monitor.withLock { $0.dropped } }

    /// Returns lines that were written lately, and the number of the last one.
    ///
    /// - Parameters:
    ///   - number: The number of the last line that is known; nil for the last lines.
    ///   - limit: The greatest number of lines.
    package func tail(after number: Int?, limit: Int) -> (lines: [LogTail.Line], last: Int) {
        let tail = last.withLock { $0 }
        return (tail.lines(after: number, limit: limit), tail.lastNumber)
    }

    /// Writes the remaining lines and ends the thread. Later lines are dropped.
    ///
    /// - Parameter seconds: The longest wait, since the reader of the log may be stuck.
    package func close(seconds: Double = 2) {
        monitor.broadcast { $0.isClosed = true }
        thread.waitForEnd(until: Instant.now().adding(seconds: seconds))
    }

    /// The loop of the thread: takes all collected lines and writes them, until the log is closed.
    private func writeLines() {
        while true {
            let (lines, isClosed) =
                monitor.wait { state -> (OutputBuffer, Bool)? in
                    guard state.isClosed || (!state.pending.isEmpty && !state.isHeld) else { return nil }
                    let lines = state.pending
                    state.pending = OutputBuffer()
                    return (lines, state.isClosed)
                } ?? (OutputBuffer(), true)
            let bytes = lines.array
            last.withLock { $0.append(bytes) }
            // An error ends this write: there is nowhere to report it.
            try? System.write(descriptor, bytes)
            if isClosed { break }
            // A pause of 10 ms collects the lines of many requests into one write.
            Threads.sleep(seconds: 0.01)
        }
    }

    /// Appends a request as a line of JSON. The duration is in milliseconds.
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
        appendMember(",\"client\":", entry.client, to: buffer)
        appendMember(",\"version\":", entry.version, to: buffer)
        if entry.path != nil { appendMember(",\"path\":", entry.path, to: buffer) }
        if entry.query != nil { appendMember(",\"query\":", entry.query, to: buffer) }
        if entry.traceparent != nil { appendMember(",\"traceparent\":", entry.traceparent, to: buffer) }
        buffer.append("}\n" as StaticString)
    }

    /// Appends the name of a member as it is, then a string or `null`.
    private static func appendMember(_ name: StaticString, _ text: String?, to buffer: OutputBuffer) {
        buffer.append(name)
        if let text { buffer.append(jsonString: text) } else { buffer.append("null" as StaticString) }
    }

    /// Appends a request as a line of text: time, status, method, route or the path that found nothing, bytes, milliseconds, id,
    /// client, principal, and possibly the query. A hyphen represents an unknown value.
    private static func appendText(_ entry: Entry, _ now: WallClock, to buffer: OutputBuffer) {
        buffer.append(logTime: now)
        buffer.append(UInt8(ascii: " "))
        buffer.append(decimal: Int64(entry.status))
        buffer.append(UInt8(ascii: " "))
        buffer.append(printable(entry.method))
        buffer.append(UInt8(ascii: " "))
        buffer.append(entry.path.map(printable) ?? entry.route)
        buffer.append(UInt8(ascii: " "))
        buffer.append(decimal: Int64(entry.bytes))
        buffer.append(" B " as StaticString)
        buffer.append(milliseconds: entry.seconds)
        buffer.append(" ms " as StaticString)
        buffer.append(entry.id)
        for text in [entry.client, entry.principal] {
            buffer.append(UInt8(ascii: " "))
            buffer.append(text.map(printable) ?? "-")
        }
        if let query = entry.query {
            buffer.append(UInt8(ascii: " "))
            buffer.append(jsonString: query)
        }
        buffer.append(UInt8(ascii: "\n"))
    }

    /// The text with `?` in place of blanks, control characters and everything beyond ASCII.
    /// Methods come from clients, and must not be able to start a new line.
    private static func printable(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value > 0x20 && $0.value < 0x7f ? Character($0) : "?" })
    }
}
