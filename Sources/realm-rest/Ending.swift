// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmHTTP
import RealmStorage

/// Waits for signals on a thread of its own, so that nothing that hangs keeps the process from ending.
///
/// The first signal begins the end: running requests have `graceSeconds`, and the rest a few more. The second ends the
/// process within a second, whatever still runs. Nothing that was acknowledged is lost: a commit is durable before it is
/// told.
final class Ending: Sendable {
    private struct State {
        var hasBegun = false
        var isUrgent = false
    }

    /// For closing realms, their writers and their observers after the grace is over.
    private static let closingSeconds = 5.0
    /// From the second signal to the end.
    private static let urgentSeconds = 0.7

    private let state = Monitor(State())

    init(_ server: RealmServer, _ signals: sigset_t, graceSeconds: Double) throws {
        do throws(Threads.Failure) {
            try Threads.start("signals", stackBytes: 512 << 10) { [self] in watch(server, signals, graceSeconds) }
        } catch {
            throw RealmServer.Failure(description: error.description)
        }
    }

    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    func waitForSignal() { _ = state.wait { $0.hasBegun ? true : nil } }

    private func watch(_ server: RealmServer, _ signals: sigset_t, _ graceSeconds: Double) {
        var signals = signals
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        state.broadcast { $0.hasBegun = true }
        var end = Instant.now().adding(seconds: graceSeconds + Ending.closingSeconds)
        if let second = Ending.next(&signals, until: end) {
            signal = second
            state.broadcast { $0.isUrgent = true }
            end = Instant.now().adding(seconds: Ending.urgentSeconds)
            while Ending.next(&signals, until: end) != nil {}
        }
        // Whoever ends in time never comes here: the process is gone with its main thread.
        StandardStreams.error("the server did not end in time and is ended as it is")
        server.closeLog(seconds: 0.1)
        _exit(128 + signal)
    }

    /// The next signal; nil when none comes until `end`.
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
