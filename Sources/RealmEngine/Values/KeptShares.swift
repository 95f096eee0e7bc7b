// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
package import RealmStorage

/// Tells what has to go when what is kept for clients for a while is too much: the oldest of the client that has most.
///
/// So nobody makes a server forget what it keeps for others. It knows names and sizes only; what they stand for is with
/// its owner, whose lock guards both.
package struct KeptShares: Sendable {
    /// Something that is kept.
    private struct Item {
        /// The client for whom it is kept.
        let client: ByteText
        /// The instant at which it is too old.
        let end: Instant
        /// The bytes of its document; 0 when it has none any more.
        var byteCount: Int
    }

    /// What is kept for one client.
    private struct Share {
        /// All names, oldest first.
        var names: Deque<ByteText> = []
        /// The names of what has a document, oldest first.
        var documents: Deque<ByteText> = []
        /// The bytes of the documents.
        var byteCount = 0
    }

    private var items: [ByteText: Item] = [:]
    private var shares: [ByteText: Share] = [:]
    /// The instant before which nothing is looked for that is too old.
    private var nextLook = Instant.distantFuture
    /// The bytes of all documents.
    private var byteCount = 0

    /// The seconds between two looks for what is too old.
    private static let secondsPerLook = 0.25

    /// Makes shares of nothing.
    package init() {}

    /// Adds something that is kept.
    ///
    /// - Parameters:
    ///   - name: A name that nothing else has.
    ///   - client: The client for whom it is kept.
    ///   - bytes: The bytes of its document; 0 for none.
    ///   - end: The instant at which it is too old.
    package mutating func add(_ name: ByteText, of client: ByteText, byteCount bytes: Int, until end: Instant) {
        items[name] = Item(client: client, end: end, byteCount: bytes)
        shares[client, default: Share()].names.append(name)
        if bytes > 0 { shares[client]?.documents.append(name) }
        shares[client]?.byteCount += bytes
        byteCount += bytes
        nextLook = min(nextLook, end)
    }

    /// Removes something.
    ///
    /// - Complexity: O(1) for the oldest of a client, else O(n) in what it has.
    package mutating func remove(_ name: ByteText) {
        removeDocument(of: name)
        guard let client = items.removeValue(forKey: name)?.client else { return }
        shares[client]?.names.removeOldest(name)
        if shares[client]?.names.isEmpty == true { shares[client] = nil }
    }

    /// Removes the bytes of a document.
    private mutating func removeDocument(of name: ByteText) {
        guard let item = items[name], item.byteCount > 0 else { return }
        items[name]?.byteCount = 0
        shares[item.client]?.documents.removeOldest(name)
        shares[item.client]?.byteCount -= item.byteCount
        byteCount -= item.byteCount
    }

    /// Removes what is too old, a quarter of a second late at most, and returns the names.
    package mutating func removeOld() -> [ByteText] {
        let now = Instant.now()
        guard now >= nextLook else { return [] }
        let old = shares.values.flatMap { $0.names.prefix { isOver($0, now) } }
        for name in old { remove(name) }
        let next = shares.values.compactMap { $0.names.first.flatMap { items[$0]?.end } }.min()
        nextLook = max(next ?? .distantFuture, now.adding(seconds: KeptShares.secondsPerLook))
        return old
    }

    /// Whether something is too old.
    private func isOver(_ name: ByteText, _ now: Instant) -> Bool { items[name].map { $0.end <= now } ?? true }

    /// Removes the oldest of the client that has most if more than so many are kept, and returns its name.
    ///
    /// - Complexity: O(n) in the number of clients.
    package mutating func removeOne(beyond limit: Int) -> ByteText? {
        guard items.count > limit, let name = oldest({ $0.names.count }, { $0.names.first }) else { return nil }
        remove(name)
        return name
    }

    /// Forgets the oldest document of the client whose documents are longest if all together have more than so many
    /// bytes, and returns the name of what it belongs to, which stays.
    ///
    /// - Complexity: O(n) in the number of clients.
    package mutating func removeDocument(beyond limit: Int) -> ByteText? {
        guard byteCount > limit, let name = oldest({ $0.byteCount }, { $0.documents.first }) else { return nil }
        removeDocument(of: name)
        return name
    }

    /// Returns the first name of the client that has most; of several clients the oldest.
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
