// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The audit log: principals and their actions, as lines of JSON in a file.
///
/// A line is queued before the response with its outcome is sent, and no request waits for the disk: the thread of the log writes
/// queued lines fifty times a second, and syncs them twice a second. While the file cannot be written the lines wait, up to a
/// bound, and are written in their order when it can be. Lines beyond the bound are counted, and a line states their number.
///
/// Any thread may use it.
package final class AuditLog: Sendable {
    /// Receives events for operators: the name and the detail. It is called on the thread of the log.
    package typealias Report = @Sendable (_ event: String, _ detail: String, _ level: AccessLog.Level) -> Void

    /// The state that is shared with the writing thread.
    private struct State {
        /// The place and the form of the log.
        var options: AuditOptions
        /// The lines that the thread has not taken yet.
        var pending = OutputBuffer()
        /// The number of bytes that the thread has taken and not written yet.
        var takenByteCount = 0
        /// The number of lost lines that no line reports yet.
        var unloggedCount = 0
        /// The reason why the file could not be written at the last attempt; nil when it could.
        var failure: String?
        /// Whether the file is to be opened again.
        var isToReopen = false
        /// Whether no more lines are taken, and the thread ends.
        var isClosed = false
        /// The counts so far.
        var counts = Counts()

        /// The number of bytes that wait to be written.
        var waitingByteCount: Int { pending.count + takenByteCount }
    }

    /// Counts since the start.
    package struct Counts: Sendable {
        /// The number of lines that were queued.
        package var lines: UInt64 = 0
        /// The number of lines that were lost because too many were waiting.
        package var lost: UInt64 = 0
        /// The number of attempts to write that failed.
        package var failures: UInt64 = 0
        /// The number of requests that were refused because their line could not have been written.
        package var refusals: UInt64 = 0
    }

    /// The next work of the thread.
    private struct Turn {
        /// The lines that were queued.
        var lines: OutputBuffer
        /// The place and the form of the log.
        var options: AuditOptions
        /// Whether the file is opened again.
        var isToReopen: Bool
        /// Whether nothing comes after this.
        var isLast: Bool
    }

    /// The number of bytes that may wait. Lines beyond it are lost.
    package static let byteLimit = 64 << 20
    /// The seconds from one write to the next, in which lines gather.
    private static let writeSeconds = 0.02
    /// The seconds after which the thread looks after the file although there are no lines, and tries again after a failure.
    private static let lookSeconds = 0.25

    private let monitor: Monitor<State>
    private let thread = ServiceThread("audit")
    /// Receives events for operators.
    private let report: Report

    /// Opens the file and starts the thread; nil for options without a file.
    ///
    /// - Parameters:
    ///   - options: The place and the form of the log.
    ///   - report: Receives events for operators.
    /// - Throws: `.refused` or `.io` for a file that cannot be opened, `.io` also when the system provides no thread.
    package init?(_ options: AuditOptions, report: @escaping Report) throws(StorageError) {
        guard let path = options.file else { return nil }
        let file = try AuditFile(path: path)
        monitor = Monitor(State(options: options))
        self.report = report
        do throws(Threads.Failure) {
            try thread.start { [self] in writeLines(to: file) }
        } catch {
            file.close()
            throw .refused(.unsuitable(error.description))
        }
    }

    // MARK: - Lines

    /// Queues a line. It never waits for the disk.
    package func append(_ entry: AuditEntry) {
        monitor.signal { state in
            guard !state.isClosed, state.waitingByteCount < AuditLog.byteLimit else {
                state.unloggedCount += 1
                state.counts.lost &+= 1
                return
            }
            AuditLog.logLosses(&state)
            entry.write(at: .now(), to: state.pending)
            state.counts.lines &+= 1
        }
    }

    /// Queues the line about lines that were lost before.
    private static func logLosses(_ state: inout State) {
        guard state.unloggedCount > 0 else { return }
        var entry = AuditEntry(kind: .lost)
        entry.lostCount = state.unloggedCount
        entry.write(at: .now(), to: state.pending)
        state.unloggedCount = 0
    }

    /// Returns whether something may be done that has to be recorded, and counts it when not: the log is required, and cannot be
    /// written, or has too much to write.
    package func admits() -> Bool {
        monitor.withLock { state in
            guard state.options.isRequired else { return true }
            guard state.failure != nil || state.isClosed || state.waitingByteCount >= state.options.refusingByteCount else {
                return true
            }
            state.counts.refusals &+= 1
            return false
        }
    }

    // MARK: - State

    /// Whether the file can be written, as far as is known.
    package var isWritten: Bool { monitor.withLock { $0.failure == nil } }

    /// The counts since the start.
    package var counts: Counts { monitor.withLock { $0.counts } }

    /// Reopens the file, so that a renamed one is left alone. It does not wait for that.
    package func reopen() { monitor.signal { $0.isToReopen = true } }

    /// Puts other options in force. Those without a file have no effect.
    package func replace(with options: AuditOptions) {
        guard options.file != nil else { return }
        monitor.signal { state in
            state.options = options
            state.isToReopen = true
        }
    }

    /// Writes the remaining lines and ends the thread. Later lines are lost.
    ///
    /// - Parameter seconds: The longest wait, since the disk may be stuck.
    package func close(seconds: Double = 5) {
        monitor.broadcast { $0.isClosed = true }
        thread.waitForEnd(until: Instant.now().adding(seconds: seconds))
    }

    package func write(to text: inout MetricsText) {
        let (counts, waiting, isWritten) = monitor.withLock { ($0.counts, $0.waitingByteCount, $0.failure == nil) }
        text.gauge("audit_unavailable", "1 while the audit log cannot be written.", isWritten ? 0 : 1)
        text.gauge("audit_waiting_bytes", "Bytes of the audit log that wait to be written.", waiting)
        text.counter("audit_lines_total", "Lines of the audit log.", counts.lines)
        text.counter(
            "audit_lines_lost_total", "Lines of the audit log that were lost because too many were waiting.", counts.lost)
        text.counter("audit_failures_total", "Failed attempts to write the audit log.", counts.failures)
        text.counter("audit_refusals_total", "Requests refused because the audit log could not be written.", counts.refusals)
    }

    // MARK: - The thread

    /// The loop of the thread: writes queued lines until the log is closed.
    private func writeLines(to first: AuditFile) {
        var file = first
        var lines: ArraySlice<UInt8> = []
        if file.removedByteCount > 0 {
            report("audit_mended", "an unfinished line of \(file.removedByteCount) bytes was removed", .warning)
        }
        while true {
            let turn = nextTurn()
            lines += turn.lines.array
            let failure = write(&lines, to: &file, turn)
            settle(failure, lines.count)
            // A buffer that was once long is not kept.
            if lines.isEmpty { lines = [] }
            if turn.isLast { break }
            Threads.sleep(seconds: failure == nil ? AuditLog.writeSeconds : AuditLog.lookSeconds)
        }
        file.close()
    }

    /// Waits for lines, but not longer than until the file has to be looked after.
    private func nextTurn() -> Turn {
        let turn = monitor.wait(until: Instant.now().adding(seconds: AuditLog.lookSeconds)) { state -> Turn? in
            guard !state.pending.isEmpty || state.isClosed || state.isToReopen else { return nil }
            return AuditLog.takeTurn(&state)
        }
        return turn ?? monitor.withLock { AuditLog.takeTurn(&$0) }
    }

    /// Takes the queued lines.
    private static func takeTurn(_ state: inout State) -> Turn {
        if state.waitingByteCount < byteLimit { logLosses(&state) }
        let turn = Turn(
            lines: state.pending, options: state.options, isToReopen: state.isToReopen, isLast: state.isClosed)
        state.takenByteCount += state.pending.count
        if !state.pending.isEmpty { state.pending = OutputBuffer() }
        state.isToReopen = false
        return turn
    }

    /// Writes lines to the file, and removes the written ones from `lines`.
    ///
    /// - Returns: The reason for unwritten lines; nil when all are written.
    private func write(_ lines: inout ArraySlice<UInt8>, to file: inout AuditFile, _ turn: Turn) -> String? {
        let knownDefect = file.rotationFailure
        do throws(StorageError) {
            try file.take(turn.options.file ?? file.path, isDemanded: turn.isToReopen)
            try file.add(&lines, turn.options)
            try file.sync(isLast: turn.isLast)
        } catch {
            return "\(error)"
        }
        if let defect = file.rotationFailure, defect != knownDefect { report("audit_not_rotated", defect, .error) }
        return nil
    }

    /// Records the result of an attempt, and reports it when it is news.
    private func settle(_ failure: String?, _ waitingByteCount: Int) {
        let known = monitor.withLock { state -> String? in
            let known = state.failure
            state.failure = failure
            state.takenByteCount = waitingByteCount
            if failure != nil { state.counts.failures &+= 1 }
            return known
        }
        switch (known, failure) {
        case (nil, let failure?): report("audit_unavailable", failure, .error)
        case (_?, nil): report("audit_available", "the audit log is written again", .info)
        default: break
        }
    }
}
