// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Accepts the connections of a listener on its own thread, and gives each to the thread of the daemon that has the fewest.
final class ConnectionAcceptor: Sendable {
    /// The listening socket.
    private let socket: Int32
    /// The threads that serve the connections; at least one.
    private let threads: [DaemonThread]
    /// A descriptor that becomes readable when the thread is to end; -1 if the system had none.
    private let ending: Int32
    private let thread = ServiceThread("accept", stackBytes: 256 << 10)

    /// Makes an acceptor that accepts nothing until it is started.
    ///
    /// - Parameters:
    ///   - socket: The listening socket, which does not block.
    ///   - threads: The threads that serve the connections, all of which run.
    init(_ socket: Int32, threads: [DaemonThread]) {
        self.socket = socket
        self.threads = threads
        ending = realm_rest_signal_new()
    }

    deinit { close(ending) }

    /// Starts the thread.
    ///
    /// - Throws: `Failure` when the system can make no thread, or has no descriptor for its end.
    func start() throws(HTTPServer.Failure) {
        guard ending >= 0 else { throw HTTPServer.Failure(description: "no connections can be accepted: too many open files") }
        do throws(Threads.Failure) {
            try thread.start { [self] in run() }
        } catch {
            throw HTTPServer.Failure(description: error.description)
        }
    }

    /// Ends the thread and waits for that.
    func stop() {
        realm_rest_signal(ending)
        thread.waitForEnd()
    }

    /// The pause in seconds before the next `accept` when the system has no descriptor or no memory left.
    private static let pauseSeconds = 0.01

    /// The interval in milliseconds at which threads that can stall are woken.
    private static let wakingMilliseconds: Int32 = 20

    /// The loop of the thread.
    private func run() {
        var nextWaking = Instant.now()
        while realm_rest_wait_to_accept(socket, ending, waitMilliseconds) != 0 {
            if Instant.now() >= nextWaking {
                for thread in threads where thread.canStall { thread.wake() }
                nextWaking = Instant.now().adding(seconds: Double(ConnectionAcceptor.wakingMilliseconds) / 1000)
            }
            while acceptOne() {}
            switch errno {
            case EAGAIN, EINTR, ECONNABORTED, EPROTO: continue
            // The socket remains readable, so the wait would end at once.
            default: Threads.sleep(seconds: ConnectionAcceptor.pauseSeconds)
            }
        }
    }

    /// The longest wait for a connection, in milliseconds; -1 for no limit.
    private var waitMilliseconds: Int32 { threads.contains { $0.canStall } ? ConnectionAcceptor.wakingMilliseconds : -1 }

    /// Accepts a connection if one waits; returns whether one did, and leaves the reason in `errno` otherwise.
    private func acceptOne() -> Bool {
        guard let thread = threads.min(by: { $0.load < $1.load }) else { return false }
        return thread.accept(from: socket)
    }
}
