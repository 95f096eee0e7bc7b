// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The proxies whose notes about their clients are believed, for limits and logs.
///
/// A proxy appends the address of its peer to what it got, so what a client has written itself stands
/// before that. The client is therefore the last address that is not that of a trusted proxy; everything
/// before it may be invented. No rights come from these notes.
package struct TrustedProxies: Sendable, Equatable {
    /// The addresses of the proxies.
    package var ranges: [AddressRange] = []
    /// Whether peers on a Unix socket, which have no address, are proxies.
    package var includesUnix = false

    /// The word that stands for peers on a Unix socket.
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

    /// Whether an address is that of a trusted proxy.
    private func contains(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns the client that a trusted proxy has passed a request on for.
    ///
    /// Where `Forwarded` and `X-Forwarded-For` name different clients, a proxy has written one of them and
    /// left the other as it came, and nobody knows which: neither is believed.
    ///
    /// - Parameters:
    ///   - standard: The value of `Forwarded`; nil when there is none.
    ///   - plain: The value of `X-Forwarded-For`; nil when there is none.
    /// - Returns: The address; nil when the fields name none that can be believed, so that the proxy itself
    ///   counts as the client.
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
