// SPDX-License-Identifier: Apache-2.0

/// Where administrators reach the server.
package enum AdminAddress: Sendable, Equatable {
    /// The main listener when it is on loopback; else a port of its own on loopback.
    case automatic
    /// Nowhere but where the main listener administers.
    case none
    case port(host: String, port: Int)
    case unix(path: String)

    /// The port beside a main listener that others can reach.
    package static let usualPort = 8081

    /// Reads `HOST:PORT`, `unix:PATH` or `none`; nil when the text is none of these.
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
