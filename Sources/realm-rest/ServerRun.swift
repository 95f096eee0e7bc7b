// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmHTTP

/// Runs a server on the main thread until a signal ends it.
enum ServerRun {
    /// `whenListening` is called after the address was printed.
    static func run(_ options: RealmServer.Options, whenListening: (String) throws -> Void = { _ in }) throws {
        // Blocked before any thread exists, so that all of them inherit it and only `sigwait` sees these signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        do {
            let server = try RealmServer(options) { StandardStreams.error($0) }
            try StandardStreams.output("listening on \(server.url)\n")
            if let url = server.adminURL { StandardStreams.error("administration on \(url)") }
            try server.start()
            try whenListening(server.url)
            var signal: Int32 = 0
            sigwait(&signals, &signal)
            server.stop { isPending(&signals) }
        } catch let failure as RealmServer.Failure {
            StandardStreams.error(failure.description)
            throw ExitCode(1)
        }
    }

    /// Whether another signal has come; it is taken.
    private static func isPending(_ signals: inout sigset_t) -> Bool {
        var none = timespec(tv_sec: 0, tv_nsec: 0)
        return sigtimedwait(&signals, nil, &none) > 0
    }
}
