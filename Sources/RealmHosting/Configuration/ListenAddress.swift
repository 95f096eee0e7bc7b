// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A place at which the server listens for clients, with its own options.
package struct ListenAddress: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        /// A TCP port of a host name or an address; with port 0 the system assigns one.
        case port(host: String, port: Int)
        /// A Unix socket at a path.
        case unix(path: String)
    }

    package var place: Place
    /// Whether connections are encrypted; nil for TCP encrypted when there are certificates, and a Unix socket never.
    package var isSecure: Bool?
    /// The users that may open a Unix socket.
    package var access = SocketAccess()

    /// Makes an address without particulars.
    package init(_ place: Place) { self.place = place }

    /// The rule for the text, for errors.
    package static let rule =
        "expected HOST:PORT or unix:PATH, followed by ,tls or ,plain, and for a Unix socket by ,mode=660, ,owner=NAME and "
        + ",group=NAME"

    /// Reads `HOST:PORT` or `unix:PATH`, and particulars after commas.
    ///
    /// - Returns: nil for another text.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        switch AdminAddress(parts[0]) {
        case .port(let host, let port): self.init(.port(host: host, port: port))
        case .unix(let path): self.init(.unix(path: path))
        case .automatic, .none?, nil: return nil
        }
        for part in parts.dropFirst() { guard take(part) else { return nil } }
    }

    /// Takes one particular; false when it is none, or none of this kind of address.
    private mutating func take(_ text: String) -> Bool {
        if text == "tls" || text == "plain" {
            isSecure = text == "tls"
            return true
        }
        guard case .unix = place, let equals = text.firstIndex(of: "=") else { return false }
        let value = String(text[text.index(after: equals)...])
        switch text[..<equals] {
        case "mode":
            guard let mode = SocketAccess.mode(value) else { return false }
            access.mode = mode
        case "owner": access.owner = value
        case "group": access.group = value
        default: return false
        }
        return !value.isEmpty
    }

    /// Whether connections are encrypted.
    ///
    /// - Parameter hasCertificates: Whether the server has certificates.
    package func isSecure(_ hasCertificates: Bool) -> Bool {
        if let isSecure { return isSecure }
        guard case .port = place else { return false }
        return hasCertificates
    }
}

extension ListenAddress: CustomStringConvertible {
    /// The address in the form that `init(_:)` reads.
    package var description: String {
        var parts: [String]
        switch place {
        case .port(let host, let port): parts = [AdminAddress.port(host: host, port: port).description]
        case .unix(let path): parts = ["unix:" + path]
        }
        if let isSecure { parts.append(isSecure ? "tls" : "plain") }
        if access.mode != SocketAccess().mode { parts.append("mode=" + String(access.mode, radix: 8)) }
        if let owner = access.owner { parts.append("owner=" + owner) }
        if let group = access.group { parts.append("group=" + group) }
        return parts.joined(separator: ",")
    }
}
