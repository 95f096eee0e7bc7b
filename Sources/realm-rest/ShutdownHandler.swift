// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import MicroHTTP
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// Waits for signals on a separate thread, so that the process ends even if another thread hangs. SIGHUP, where it is among the
/// signals, reads the configuration again.
///
/// The first signal begins an orderly end: running requests have `graceSeconds`, and closing the realms has most of a second
/// more. The second signal ends the process within a second, even if work is still running. No acknowledged write is lost,
/// because a commit is durable before its client receives the response.
final class ShutdownHandler: Sendable {
    /// The number of signals that have arrived, as far as it matters; the monitor guards it.
    private struct State {
        /// Whether a first signal has arrived, which begins the orderly end.
        var hasBegun = false
        /// Whether a second signal has arrived, which ends the process within a second.
        var isUrgent = false
    }

    /// The seconds for closing realms, their writers and their observers after the grace period.
    private static let closingSeconds = 0.8
    /// The seconds from the second signal to the end of the process.
    private static let urgentSeconds = 0.7

    /// Notifies the service manager of reloads; nil for none.
    private let notifier: ServiceNotifier?
    /// The state; the main thread waits for its changes.
    private let state = Monitor(State())

    /// Starts the thread that waits for signals.
    ///
    /// - Parameters:
    ///   - server: The server whose log is closed if the process has to be ended.
    ///   - signals: The signals, which must be blocked in all threads.
    ///   - graceSeconds: The seconds that running requests have after the first signal.
    ///   - notifier: Notifies the service manager of reloads; nil for none.
    /// - Throws: `RealmServer.Failure` when the system provides no thread.
    init(_ server: RealmServer, _ signals: sigset_t, graceSeconds: Double, _ notifier: ServiceNotifier?) throws {
        self.notifier = notifier
        do throws(Threads.Failure) {
            try Threads.start("signals", stackBytes: 512 << 10) { [self] in watch(server, signals, graceSeconds) }
        } catch {
            throw RealmServer.Failure(description: error.description)
        }
    }

    /// Whether a second signal has arrived, so that the server stops without waiting. All threads may read it.
    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    /// Blocks the main thread until a first signal arrives.
    func waitForSignal() { _ = state.wait { $0.hasBegun ? true : nil } }

    /// The body of the thread: waits for the signals, and ends the process if the orderly end takes too long.
    private func watch(_ server: RealmServer, _ signals: sigset_t, _ graceSeconds: Double) {
        var signals = signals
        var signal: Int32 = 0
        repeat {
            while unsafe sigwait(&signals, &signal) != 0 {}
            if signal == SIGHUP {
                notifier?.reloading()
                ShutdownHandler.reload(server)
                notifier?.ready()
            }
        } while signal == SIGHUP
        // A server that is stopping reads nothing again.
        unsafe sigdelset(&signals, SIGHUP)
        state.broadcast { $0.hasBegun = true }
        var end = Instant.now().adding(seconds: graceSeconds + ShutdownHandler.closingSeconds)
        if let second = ShutdownHandler.next(&signals, until: end) {
            signal = second
            state.broadcast { $0.isUrgent = true }
            end = Instant.now().adding(seconds: ShutdownHandler.urgentSeconds)
            while ShutdownHandler.next(&signals, until: end) != nil {}
        }
        // If the server ends in time, the process is gone with its main thread before this
        // line.
        StandardStreams.error("the server did not stop in time and is terminated")
        server.closeLog(seconds: 0.1)
        _exit(128 + signal)
    }

    /// Reads the configuration again, and reports the result to the operator.
    private static func reload(_ server: RealmServer) {
        guard server.state.reloading.isPossible else {
            if server.state.reloading.reopenAudit() { StandardStreams.error("audit log opened again") }
            guard server.state.reloading.hasCertificates else { return }
            let isUsable = server.state.reloading.readCertificates()
            return StandardStreams.error(isUsable ? "certificates read again" : "the certificates stay as they were")
        }
        do throws(Problem) {
            StandardStreams.error(try server.state.reloading.run().description)
        } catch {
            StandardStreams.error("the configuration stays as it was: \(error.detail)")
        }
    }

    /// Waits for the next signal.
    ///
    /// - Parameters:
    ///   - signals: The signals to wait for.
    ///   - end: The instant at which waiting ends.
    /// - Returns: The number of the signal; nil when none has arrived until `end`.
    private static func next(_ signals: inout sigset_t, until end: Instant) -> Int32? {
        while true {
            let seconds = end.seconds(since: Instant.now())
            guard seconds > 0 else { return nil }
            var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
            let signal = unsafe sigtimedwait(&signals, nil, &rest)
            if signal > 0 { return signal }
            guard errno == EINTR else { return nil }
        }
    }
}
