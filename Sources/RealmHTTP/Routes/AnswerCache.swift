// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Answers to reads that were asked before, each valid for the one version it was made from.
///
/// A version never changes, so the same request about the same version has the same answer; the first commit makes all
/// of them stale. An answer is kept when it is asked for the second time, so that requests nobody repeats cost no
/// memory. Each shard has two generations: what the younger has no room for makes it the older one, and what is used
/// again moves back.
final class AnswerCache: Sendable {
    private struct Key: Hashable {
        let target: [UInt8]
        /// The `Accept` field, which decides the form of the answer together with the target.
        let accept: String?
        let digest: Int

        init(_ target: [UInt8], accept: String?) {
            self.target = target
            self.accept = accept
            var hasher = Hasher()
            unsafe target.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            hasher.combine(accept)
            digest = hasher.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(digest) }
    }

    private struct Entry {
        let version: String
        let response: Response
        let byteCount: Int
    }

    private struct Shard {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
        var youngBytes = 0
        var oldBytes = 0
        /// Digests of requests that were seen once.
        var seen = [Int](repeating: 0, count: AnswerCache.seenSlots)
        var hits: UInt64 = 0
    }

    private static let shardCount = 8
    private static let seenSlots = 512
    /// What an entry takes beside its body: headers, names, places in tables.
    private static let overheadBytes = 1024

    private final class Guarded: Sendable {
        let state = RankedMutex(.leaf, Shard())
    }

    private let shards: [Guarded]
    private let bytesPerShard: Int

    /// Keeps about `byteLimit` bytes; with 0 nothing is kept.
    init(byteLimit: Int) {
        bytesPerShard = byteLimit / AnswerCache.shardCount
        shards = (0..<AnswerCache.shardCount).map { _ in Guarded() }
    }

    // MARK: - Use

    /// The answer to a request about `version`, if it is known.
    func answer(to request: Request, version: String) -> Response? {
        guard let key = key(of: request) else { return nil }
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

    /// Keeps an answer when its request was seen before.
    func note(_ response: Response, to request: Request) {
        guard response.status == 200, !request.readsSnapshot, case .bytes(let body) = response.body,
            let version = request.version,
            let key = key(of: request)
        else { return }
        let byteCount = body.capacity + body.capacity / 4 + key.target.count + AnswerCache.overheadBytes
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

    /// Only plain reads: conditions and minimum versions are the endpoints' business.
    private func key(of request: Request) -> Key? {
        guard bytesPerShard > 0, request.method == .get || request.method == .head, request.headers[.ifNoneMatch] == nil,
            request.headers[.realmMinVersion] == nil, request.headers[.realmTransaction] == nil
        else { return nil }
        return Key(request.target.bytes, accept: request.headers[.accept])
    }

    private func shard(of key: Key) -> Guarded {
        shards[Int(UInt(bitPattern: key.digest) % UInt(AnswerCache.shardCount))]
    }

    /// Returns the generation that was dropped, megabytes maybe, to be let go of after the lock is open again.
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

    // MARK: - Figures

    /// What the metrics show.
    struct Figures {
        var hits: UInt64 = 0
        var entries = 0
        var bytes = 0
    }

    /// Hits, entries and bytes of all shards together.
    var figures: Figures {
        shards.reduce(into: Figures()) { sum, shard in
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
    func write(to text: inout MetricsText) {
        let figures = figures
        text.single(
            "known_answers_total", .counter, help: "Answers that were sent again for the same version.",
            value: Double(figures.hits))
        text.single("known_answers", .gauge, help: "Answers that are kept.", value: Double(figures.entries))
        text.single("known_answer_bytes", .gauge, help: "Memory for answers that are kept.", value: Double(figures.bytes))
    }
}
