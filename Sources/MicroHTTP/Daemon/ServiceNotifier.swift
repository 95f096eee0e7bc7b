// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Reports the state of the server to the service manager by the protocol of `sd_notify`: lines in datagrams to a socket that the
/// environment names.
///
/// Any thread may call it. No call waits: messages that the socket does not take are lost.
package final class ServiceNotifier: Sendable {
    /// The path of the manager's socket; a leading `@` marks an abstract name without a file.
    private let path: String
    /// The socket that is sent from.
    private let descriptor: Int32
    /// The nanoseconds that may pass between two heartbeats; nil when the manager wants none.
    private let beatNanoseconds: UInt64?
    /// The time of the last heartbeat, in nanoseconds of `Instant`.
    private let lastBeat = Atomic<UInt64>(0)

    /// Makes the notifier of a process.
    ///
    /// - Parameter environment: Looks up a variable of the environment.
    /// - Returns: nil without a manager that wants notifications.
    package init?(_ environment: (String) -> String?) {
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isOwn = environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        // A third of the timeout of the manager, which is checked once a second.
        let microseconds = isOwn ? environment("WATCHDOG_USEC").flatMap { UInt64($0) } : nil
        beatNanoseconds = microseconds.flatMap { $0 > 0 && $0 < 1 << 50 ? $0 * 1000 / 3 : nil }
    }

    deinit { close(descriptor) }

    /// Reports that the server accepts requests.
    package func ready() { send("READY=1") }

    /// Reports that the configuration is being read again; `ready` reports the end of it.
    package func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(ServiceNotifier.microseconds())") }

    /// Reports that the server is ending.
    package func stopping() { send("STOPPING=1") }

    /// Gives a sign of life if one is due. It is called about once a second.
    package func beat() {
        guard let beatNanoseconds else { return }
        let now = Instant.now().nanoseconds
        guard now &- lastBeat.load(ordering: .relaxed) >= beatNanoseconds else { return }
        lastBeat.store(now, ordering: .relaxed)
        send("WATCHDOG=1")
    }

    /// The time of the monotonic clock, which the manager compares with its own.
    private static func microseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    /// Sends lines without waiting.
    private func send(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        // A name without a file has no NUL at its end.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1))
        let bytes = Array(text.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
