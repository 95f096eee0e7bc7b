// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The address at which administrators reach the server: the option `--admin`.
package enum AdminAddress: Sendable, Equatable {
    /// The main listener when it is on loopback, otherwise a separate port on loopback.
    case automatic
    /// No separate listener. Administrators use the main listener, if it permits that.
    case none
    /// Administrators use a TCP port on a host, which has to be a loopback address.
    case port(host: String, port: Int)
    /// Administrators use a Unix socket at a path.
    case unix(path: String)

    /// The port for administrators when the main listener can be reached from other machines and `--admin` is not given.
    package static let usualPort = 8081

    /// The address in the form that `init(_:)` reads; `automatic` has no such form.
    package var description: String {
        switch self {
        case .automatic: return "automatic"
        case .none: return "none"
        case .unix(let path): return "unix:" + path
        case .port(let host, let port): return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// Reads `HOST:PORT`, `unix:PATH` or `none`. An IPv6 address is written in brackets.
    ///
    /// - Parameter text: The value of the option.
    /// - Returns: nil when the text has none of these forms.
    package init?(_ text: String) {
        if text == "none" {
            self = .none
            return
        }
        if text.hasPrefix("unix:") {
            guard text.utf8.count > 5 else { return nil }
            self = .unix(path: String(text.dropFirst(5)))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self = .port(host: host, port: Int(port))
    }
}
