// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// Runs a server on the main thread until a signal ends it. It is shared by the commands `serve` and `demo`.
enum ServerRun {
    /// The number of realms that are listed at the start.
    private static let summaryLimit = 100

    /// Blocks the signals that end a server, and returns them.
    ///
    /// It is called before any thread exists, so that all threads inherit this and only `sigwait` receives the signals. A command
    /// that starts threads before its server calls it first; a signal that arrives in between ends the server as soon as it has
    /// started.
    @discardableResult static func holdSignals() -> sigset_t { hold([SIGTERM, SIGINT]) }

    /// Blocks the signals that end a command which has no server, and returns them. One that is ignored, such as SIGHUP under `nohup`, is
    /// not among them.
    static func holdCommandSignals() -> sigset_t { hold([SIGTERM, SIGINT, SIGHUP].filter { !isIgnored($0) }) }

    /// Blocks signals, and returns them as a set.
    private static func hold(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    /// Whether the process ignores a signal. A blocked one would be pending all the same.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Returns whether one of some signals, which are blocked, has arrived.
    static func isPending(anyOf held: sigset_t) -> Bool {
        var (held, pending) = (held, sigset_t())
        unsafe sigpending(&pending)
        return [SIGTERM, SIGINT, SIGHUP].contains { unsafe sigismember(&held, $0) == 1 && sigismember(&pending, $0) == 1 }
    }

    /// Starts the server, prints its address, and blocks until it has stopped.
    ///
    /// - Parameters:
    ///   - configuration: The source of the options, which SIGHUP reads again when it has a file; nil when they were not read.
    ///   - whenListening: Called with the URL of the server after its address was printed.
    /// - Throws: `ExitCode(1)` after the reason was printed, when the server cannot start.
    static func run(
        _ options: ServerOptions, from configuration: Configuration? = nil, whenListening: (String) throws -> Void = { _ in }
    ) throws {
        var signals = holdSignals()
        // Without a file to read again, SIGHUP ends the process as usual, for example with its terminal.
        if configuration?.hasFile ?? false || options.tls.isOn || options.audit.file != nil { unsafe sigaddset(&signals, SIGHUP) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let environment = { (name: String) in unsafe getenv(name).map { unsafe String(cString: $0) } }
        let notifier = ServiceNotifier(environment)
        var options = options
        options.handedOver = HandedSocket.all(for: getpid(), environment)
        // Programs that this one starts are not meant.
        for name in HandedSocket.variables { unsafe unsetenv(name) }
        do {
            let server = try RealmServer(options, from: configuration) { StandardStreams.error($0) }
            if let key = server.firstKey {
                StandardStreams.error("the key of the administrator, which is shown only now: \(key)")
            }
            let shutdown = try ShutdownHandler(server, signals, graceSeconds: options.graceSeconds, notifier)
            try server.start {
                try StandardStreams.output("listening on \(server.url)\n")
                for url in server.otherURLs { StandardStreams.error("also listening on \(url)") }
                if let digest = server.fingerprintOfTrial { StandardStreams.error("certificate for trials, SHA-256 \(digest)") }
                if let url = server.adminURL { StandardStreams.error("administration on \(url)") }
                if let folder = options.dataFolder {
                    StandardStreams.error("data folder \((try? System.resolved(folder)) ?? folder)")
                }
                for line in server.summaries(limit: summaryLimit) { StandardStreams.error(line) }
            } everySecond: {
                notifier?.beat()
            }
            try whenListening(server.url)
            notifier?.ready()
            shutdown.waitForSignal()
            notifier?.stopping()
            server.stop { shutdown.isUrgent }
        } catch let failure as RealmServer.Failure {
            StandardStreams.error(failure.description)
            throw ExitCode(1)
        }
    }
}
