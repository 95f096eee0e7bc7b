// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The proxies whose statements about their clients are trusted, for limits and logs.
///
/// A proxy appends the address of its peer to the field that it received, after anything that the client itself has written. The
/// client is therefore the last address that is not that of a trusted proxy; everything before it may be invented. The only right
/// that comes from these notes is that of a key which is bound to networks.
package struct TrustedProxies: Sendable, Equatable {
    package var ranges: [AddressRange] = []
    /// Whether peers on a Unix socket, which have no address, are proxies.
    package var includesUnix = false

    /// The name of peers on a Unix socket.
    package static let unix = "unix"

    /// Trusts the proxies at some addresses, or none.
    package init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// Whether a peer is a trusted proxy.
    ///
    /// - Parameter address: Its address as text; empty on a Unix socket.
    package func contains(_ address: String) -> Bool {
        if address.isEmpty { return includesUnix }
        guard !ranges.isEmpty, let address = NetworkAddress(address) else { return false }
        return contains(address)
    }

    private func contains(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns the client for which a trusted proxy has passed a request on.
    ///
    /// Where `Forwarded` and `X-Forwarded-For` name different clients, a proxy has written one of them and
    /// passed the other on. The server cannot know which, so it trusts neither.
    ///
    /// - Parameters:
    ///   - headers: The fields of the request, among them those of the proxy.
    ///   - isTrusted: Whether the peer is a trusted proxy.
    package func sender(_ headers: RequestHeaders, isTrusted: Bool) -> ForwardedSender {
        guard isTrusted, headers.forwardedBy != nil || headers.forwarded != nil || headers.forwardedFor != nil else {
            return .peer
        }
        return client(standard: headers.forwarded, plain: headers.forwardedFor).map(ForwardedSender.client) ?? .unknown
    }

    /// Returns the client that both fields name; nil when they name none, or different ones.
    ///
    /// - Parameters:
    ///   - standard: The value of `Forwarded`; nil when there is none.
    ///   - plain: The value of `X-Forwarded-For`; nil when there is none.
    package func client(standard: String?, plain: String?) -> NetworkAddress? {
        let clients = [standard.map(ForwardedAddresses.standard), plain.map(ForwardedAddresses.plain)].compactMap { $0 }
            .map(client(of:))
        guard let first = clients.first, clients.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Returns the last address that is not that of a trusted proxy; the first of all when all are, and nil
    /// when something that is no address comes before it is found.
    private func client(of addresses: [NetworkAddress?]) -> NetworkAddress? {
        var nearest: NetworkAddress?
        for address in addresses.reversed() {
            guard let address else { return nil }
            nearest = address
            if !contains(address) { break }
        }
        return nearest
    }
}

/// The sender of a request, as far as trusted proxies are concerned.
package enum ForwardedSender: Sendable, Equatable {
    /// The peer of the connection: no trusted proxy has passed the request on for another client.
    case peer
    case client(NetworkAddress)
    /// An unknown client. It has no address, so it is in no network, and all unknown clients count as one.
    case unknown

    /// The address and name of unknown clients in logs and counts. No address has this text.
    package static let unknownName = "unknown"

    /// Returns the address of the sender as text.
    package func address(otherwise peer: String) -> String {
        switch self {
        case .peer: peer
        case .client(let address): address.description
        case .unknown: ForwardedSender.unknownName
        }
    }

    /// Returns the name under which the sender is counted.
    package func name(otherwise peer: String) -> String {
        switch self {
        case .peer: peer
        case .client(let address): address.clientName
        case .unknown: ForwardedSender.unknownName
        }
    }
}
