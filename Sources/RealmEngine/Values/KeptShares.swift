// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
package import RealmPlatform

/// The eviction order of a cache that clients share: first the oldest entry of the client that has most, so that no client evicts the
/// entries of another.
///
/// It has the names and sizes of entries only. The owner keeps the entries, and its lock guards both.
package struct KeptShares: Sendable {
    /// An entry.
    private struct Item {
        /// The client that owns it.
        let client: ByteText
        /// The instant at which it expires.
        let end: Instant
        /// The bytes of its document; 0 when that is absent or evicted.
        var byteCount: Int
    }

    /// The entries of one client.
    private struct Share {
        /// All names, oldest first.
        var names: Deque<ByteText> = []
        /// The names of entries with a document, oldest first.
        var documents: Deque<ByteText> = []
        /// The bytes of the documents.
        var byteCount = 0
    }

    private var items: [ByteText: Item] = [:]
    private var shares: [ByteText: Share] = [:]
    /// The instant before which no entry is removed as expired.
    private var nextLook = Instant.distantFuture
    /// The bytes of all documents.
    private var byteCount = 0

    /// The seconds between two searches for expired entries.
    private static let secondsPerLook = 0.25

    /// Makes shares without entries.
    package init() {}

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - name: The unique name of the entry.
    ///   - client: The client that owns it.
    ///   - bytes: The bytes of its document; 0 for none.
    ///   - end: The instant at which it expires.
    package mutating func add(_ name: ByteText, of client: ByteText, byteCount bytes: Int, until end: Instant) {
        items[name] = Item(client: client, end: end, byteCount: bytes)
        shares[client, default: Share()].names.append(name)
        if bytes > 0 { shares[client]?.documents.append(name) }
        shares[client]?.byteCount += bytes
        byteCount += bytes
        nextLook = min(nextLook, end)
    }

    /// Removes an entry; does nothing without one of the name.
    ///
    /// - Complexity: O(1) for the oldest entry of a client, else O(n) in the entries of that client.
    package mutating func remove(_ name: ByteText) {
        removeDocument(of: name)
        guard let client = items.removeValue(forKey: name)?.client else { return }
        shares[client]?.names.removeOldest(name)
        if shares[client]?.names.isEmpty == true { shares[client] = nil }
    }

    /// Stops counting the document of an entry.
    private mutating func removeDocument(of name: ByteText) {
        guard let item = items[name], item.byteCount > 0 else { return }
        items[name]?.byteCount = 0
        shares[item.client]?.documents.removeOldest(name)
        shares[item.client]?.byteCount -= item.byteCount
        byteCount -= item.byteCount
    }

    /// Removes expired entries, a quarter of a second late at most, and returns their names.
    package mutating func removeOld() -> [ByteText] {
        let now = Instant.now()
        guard now >= nextLook else { return [] }
        let old = shares.values.flatMap { $0.names.prefix { isOver($0, now) } }
        for name in old { remove(name) }
        let next = shares.values.compactMap { $0.names.first.flatMap { items[$0]?.end } }.min()
        nextLook = max(next ?? .distantFuture, now.adding(seconds: KeptShares.secondsPerLook))
        return old
    }

    /// Whether an entry has expired.
    private func isOver(_ name: ByteText, _ now: Instant) -> Bool { items[name].map { $0.end <= now } ?? true }

    /// Removes the oldest entry of the client that has most if there are more entries than `limit`, and returns its name.
    ///
    /// - Complexity: O(n) in the number of clients.
    package mutating func removeOne(beyond limit: Int) -> ByteText? {
        guard items.count > limit, let name = oldest({ $0.names.count }, { $0.names.first }) else { return nil }
        remove(name)
        return name
    }

    /// Evicts the oldest document of the client with the most bytes if all documents have more than `limit` bytes, and returns the name
    /// of its entry, which stays.
    ///
    /// - Complexity: O(n) in the number of clients.
    package mutating func removeDocument(beyond limit: Int) -> ByteText? {
        guard byteCount > limit, let name = oldest({ $0.byteCount }, { $0.documents.first }) else { return nil }
        removeDocument(of: name)
        return name
    }

    /// Returns the first name of the client with the largest amount; among equal ones the oldest.
    private func oldest(_ amount: (Share) -> Int, _ first: (Share) -> ByteText?) -> ByteText? {
        var found: (name: ByteText, amount: Int, end: Instant)?
        for share in shares.values {
            guard let name = first(share), let end = items[name]?.end else { continue }
            let own = amount(share)
            if let found, (own, found.end) <= (found.amount, end) { continue }
            found = (name, own, end)
        }
        return found?.name
    }
}

extension Deque<ByteText> {
    /// Removes a name, which most often is the first.
    fileprivate mutating func removeOldest(_ name: ByteText) {
        if first == name { removeFirst() } else { removeAll { $0 == name } }
    }
}
