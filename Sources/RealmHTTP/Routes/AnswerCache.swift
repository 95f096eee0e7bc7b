// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A cache of responses to reads, each valid for the one version that it was made from.
///
/// A version never changes, so the same request for the same version has the same response; the
/// first commit makes all cached responses stale. A response is kept when its request comes for the
/// second time, so that requests that are not repeated cost no memory.
///
/// The cache is divided into shards with a lock each. A shard has two generations. When the young one is full, the entries of
/// the old one are dropped and the young one takes its place; an old entry that is used again moves to the young one. One
/// response takes at most a quarter of a shard. Any thread may use the cache.
final class AnswerCache: Sendable {
    /// The parts of a request that determine the response to it in a version: the target, the `Accept` field and the scope of the
    /// sender.
    ///
    /// Reads by `GET` and `HEAD` share entries.
    private struct Key: Hashable {
        /// The request target as it was sent, with path and query string.
        let target: [UInt8]
        /// The `Accept` field, which decides the representation together with the target.
        let accept: String?
        /// The identity of the sender's scope; nil for everything.
        let scope: String?
        /// The hash of all, computed once: it selects the shard and the slot of `seen`, and serves the dictionaries.
        let digest: Int

        /// Creates a key and computes its digest.
        init(_ target: [UInt8], accept: String?, scope: String?) {
            self.target = target
            self.accept = accept
            self.scope = scope
            var hasher = Hasher()
            unsafe target.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            hasher.combine(accept)
            hasher.combine(scope)
            digest = hasher.finalize()
        }

        /// Hashes the digest alone, so that a long target is not hashed again.
        func hash(into hasher: inout Hasher) { hasher.combine(digest) }
    }

    /// A response that is kept, with the version that it belongs to.
    private struct Entry {
        /// The token of the version that the response was made from.
        let version: String
        /// The response before it is finished: without the header fields that are added to every response.
        let response: Response
        /// The estimated memory of the entry, in bytes: its body, the packed form of it, the key, the header fields, and its
        /// share of the hash tables.
        let byteCount: Int
    }

    /// One part of the cache, guarded by one lock: two generations of entries, and the keys that were requested once.
    private struct Shard {
        /// Entries that were added or used since the generations last changed places.
        var young: [Key: Entry] = [:]
        /// Entries of the older generation, which are dropped when the young one is full.
        var old: [Key: Entry] = [:]
        /// The memory of `young`, in bytes.
        var youngBytes = 0
        /// The memory of `old`, in bytes.
        var oldBytes = 0
        /// Digests of requests that came once, by a part of the digest. A later request may
        /// overwrite a slot, which only delays the keeping of a response.
        var seen = [Int](repeating: 0, count: AnswerCache.seenSlots)
        /// The number of responses that came from this shard.
        var hits: UInt64 = 0
    }

    /// The number of shards, so that threads seldom wait for the same lock.
    private static let shardCount = 8
    /// The number of requests that each shard remembers to have seen once.
    private static let seenSlots = 512
    /// The estimated memory of an entry besides its body and target, in bytes: header fields, names and places in tables.
    private static let overheadBytes = 1024

    /// A shard with its lock, in a separate object because a lock cannot be an element of an array.
    private final class Guarded: Sendable {
        let state = RankedMutex(.leaf, Shard())
    }

    /// The shards; a key belongs to the one that its digest selects.
    private let shards: [Guarded]
    /// The memory that each shard may take, in bytes; half of it for each generation.
    private let bytesPerShard: Int

    /// Creates an empty cache.
    ///
    /// - Parameter byteLimit: The approximate number of bytes that all responses together may take; with 0 nothing is kept.
    init(byteLimit: Int) {
        bytesPerShard = byteLimit / AnswerCache.shardCount
        shards = (0..<AnswerCache.shardCount).map { _ in Guarded() }
    }

    // MARK: - Use

    /// Returns the response to a request for a version, if it is kept.
    ///
    /// - Parameters:
    ///   - call: The request. Only plain reads have entries.
    ///   - version: The token of the version that the request would read now.
    /// - Returns: The response before it is finished; nil when it is unknown, or was made from
    ///   another version.
    func answer(to call: Call, version: String) -> Response? {
        guard let key = key(of: call) else { return nil }
        let (response, dropped) = shard(of: key).state.withLock { shard -> (Response?, [Key: Entry]?) in
            if let entry = shard.young[key] {
                guard entry.version == version else { return (nil, nil) }
                shard.hits &+= 1
                return (entry.response, nil)
            }
            guard let entry = shard.old.removeValue(forKey: key) else { return (nil, nil) }
            shard.oldBytes -= entry.byteCount
            guard entry.version == version else { return (nil, nil) }
            shard.hits &+= 1
            return (entry.response, insert(entry, for: key, &shard))
        }
        withExtendedLifetime(dropped) {}
        return response
    }

    /// Records a response, and keeps it when the same request came before.
    ///
    /// Kept are only complete responses with status 200 whose bodies are in memory. Those about
    /// snapshots that clients hold are not kept, because the lease may end before the version does.
    ///
    /// - Parameters:
    ///   - response: The response before it is finished.
    ///   - call: The request, with the version that its response was made from.
    func note(_ response: Response, to call: Call) {
        guard response.status == 200, !call.readsSnapshot, case .bytes(let body) = response.body,
            let version = call.versionToken,
            let key = key(of: call)
        else { return }
        let keyBytes = key.target.count + (key.scope?.utf8.count ?? 0)
        let byteCount = body.capacity + body.capacity / 2 + keyBytes + AnswerCache.overheadBytes
        guard byteCount <= bytesPerShard / 4 else { return }
        let slot = Int((UInt(bitPattern: key.digest) >> 8) % UInt(AnswerCache.seenSlots))
        let dropped = shard(of: key).state.withLock { shard -> [Key: Entry]? in
            guard shard.seen[slot] == key.digest else {
                shard.seen[slot] = key.digest
                return nil
            }
            var kept = response
            kept.packed = PackedBody()
            return insert(Entry(version: version, response: kept, byteCount: byteCount), for: key, &shard)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Returns the key of a request; nil for a request whose response may depend on more than target and `Accept`.
    ///
    /// Conditions, ranges, minimum versions and transactions are left to the endpoints.
    private func key(of call: Call) -> Key? {
        guard bytesPerShard > 0, call.request.method == .get || call.request.method == .head,
            call.request[.ifNoneMatch] == nil,
            call.request[.realmMinVersion] == nil, call.request[.realmTransaction] == nil,
            call.request[.realmRead] == nil, !call.request.has(.range)
        else { return nil }
        return Key(call.request.target.bytes, accept: call.request[.accept], scope: call.scope?.identity)
    }

    /// Returns the shard that the digest of a key selects.
    private func shard(of key: Key) -> Guarded {
        shards[Int(UInt(bitPattern: key.digest) % UInt(AnswerCache.shardCount))]
    }

    /// Adds an entry to the young generation, which first becomes the old one when it has no room.
    ///
    /// - Returns: The generation that was dropped, possibly many megabytes. The caller frees it
    ///   after it has released the lock.
    private func insert(_ entry: Entry, for key: Key, _ shard: inout Shard) -> [Key: Entry]? {
        var dropped: [Key: Entry]?
        if shard.youngBytes + entry.byteCount > bytesPerShard / 2 {
            dropped = shard.old
            shard.old = shard.young
            shard.oldBytes = shard.youngBytes
            shard.young = [:]
            shard.youngBytes = 0
        }
        if let previous = shard.young.updateValue(entry, forKey: key) { shard.youngBytes -= previous.byteCount }
        shard.youngBytes += entry.byteCount
        return dropped
    }

    // MARK: - Metrics

    /// The counts of the cache that the metrics show.
    struct Counts {
        /// The number of responses that came from the cache since the start of the server.
        var hits: UInt64 = 0
        /// The number of responses that are kept now.
        var entries = 0
        /// The estimated memory of the responses that are kept, in bytes.
        var bytes = 0
    }

    /// The counts of all shards together. The shards are locked one after the other, so the sum
    /// need not have existed at any moment.
    var counts: Counts {
        shards.reduce(into: Counts()) { sum, shard in
            shard.state.withLock { shard in
                sum.hits &+= shard.hits
                sum.entries += shard.young.count + shard.old.count
                sum.bytes += shard.youngBytes + shard.oldBytes
            }
        }
    }
}

extension AnswerCache {
    /// Writes the metrics of the cache.
    ///
    /// - Parameter text: The metrics page that is being written.
    func write(to text: inout MetricsText) {
        let counts = counts
        text.counter("known_answers_total", "Responses that were sent from the cache.", counts.hits)
        text.gauge("known_answers", "Responses in the cache.", counts.entries)
        text.gauge("known_answer_bytes", "Memory of the responses in the cache.", counts.bytes)
    }
}
