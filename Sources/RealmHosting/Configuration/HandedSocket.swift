// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A socket that the service manager has made and handed over when it started this process.
package struct HandedSocket: Sendable, Equatable {
    /// The name that the manager gives it; `admin` is the listener of administrators, every other one is for clients.
    package let name: String
    package let descriptor: Int32

    /// Names a socket that was handed over.
    package init(name: String, descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    /// Whether it is the listener of administrators.
    package var isForAdministrators: Bool { name == "admin" }

    /// The variables of the environment by which sockets are handed over; they are for one process only.
    package static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    /// The number of sockets that are taken at most.
    private static let limit: Int32 = 64

    /// Reads which sockets were handed over.
    ///
    /// - Parameters:
    ///   - process: The number of this process. Sockets for another one are none of ours.
    ///   - environment: Looks up a variable of the environment.
    /// - Returns: The sockets in the order of their descriptors, of which the first is 3.
    package static func all(for process: Int32, _ environment: (String) -> String?) -> [HandedSocket] {
        guard let owner = environment("LISTEN_PID").flatMap({ Int32($0) }), owner == process,
            let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), (1...limit).contains(count)
        else { return [] }
        let names = (environment("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<count).map { index in
            HandedSocket(name: Int(index) < names.count ? String(names[Int(index)]) : "", descriptor: 3 + index)
        }
    }
}
