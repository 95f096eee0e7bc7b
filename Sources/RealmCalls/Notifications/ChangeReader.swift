// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads the change sets of several subscriptions together, in the order of their versions.
///
/// A stream or a poll has one reader. It is stateless: each call names the position, so it can be repeated, and any thread may
/// call it. One position serves all subscriptions because a step delivers the sets of all of them up to the same version.
struct ChangeReader: Sendable {
    /// The subscriptions, in the order of their registration. Indexes in results refer to this array.
    let subs: [ReadSubscription]

    /// The change sets that are delivered together because a client cannot resume between them:
    /// those of one version, or of several versions that one set covers.
    struct Batch {
        /// The position after the batch: a client that has the batch has everything up to this version.
        let version: UInt64
        /// The change sets of the batch, in the order of their versions.
        let sets: [Entry]
    }

    /// One change set of one subscription in a batch.
    struct Entry {
        /// The index of the subscription that the change set belongs to, in the reader.
        let index: Int
        /// The change set that is delivered to the subscription.
        let set: ChangeSet
        /// The position of the subscription before the set, which becomes the member `from`.
        let from: UInt64
    }

    /// The result of reading several subscriptions after a position.
    enum Step {
        /// There is nothing to deliver: all change sets up to the given version were delivered.
        case nothing
        /// There are change sets to deliver next.
        case batch(Batch)
        /// The position cannot be resumed by these subscriptions, given by index: their sets were dropped.
        case lost([Int])

        /// Whether the step is a batch that ends before a version.
        func isBefore(_ version: UInt64) -> Bool {
            if case .batch(let batch) = self { return batch.version < version }
            return false
        }
    }

    /// Returns the version up to which the change sets of all subscriptions are complete, and beyond which none of them goes.
    ///
    /// - Parameter published: The newest published version, read before this call.
    func end(_ published: UInt64) -> UInt64 {
        let behind = subs.compactMap { $0.feed.behind }
        guard var end = behind.min(), end < published else { return published }
        // A position within a set cannot be resumed from.
        while subs.count > 1, let start = subs.lazy.compactMap({ $0.feed.start(over: end) }).first { end = start }
        return end
    }

    /// Returns the change sets of the first version after a position at which any subscription has changed.
    ///
    /// - Parameters:
    ///   - position: The version up to which the client has everything.
    ///   - end: The newest published version. Sets that go beyond it are not returned yet.
    /// - Complexity: O(subscriptions), unless a set covers several versions.
    func next(after position: UInt64, upTo end: UInt64) -> Step {
        var entries: [Entry] = []
        var lost: [Int] = []
        for index in subs.indices {
            switch next(of: subs[index], after: position, upTo: end) {
            case nil: break
            case .lost?: lost.append(index)
            case .set(let set)?: entries.append(Entry(index: index, set: set, from: position))
            }
        }
        if !lost.isEmpty { return .lost(lost) }
        guard let version = entries.lazy.map(\.set.to).min() else { return .nothing }
        if entries.contains(where: { $0.set.from < version && $0.set.to > version }) {
            return joined(after: position, from: version, upTo: end)
        }
        entries.removeAll { $0.set.to > version }
        return .batch(Batch(version: version, sets: entries))
    }

    /// Collects a batch in which one set covers several versions.
    ///
    /// A feed without waiting subscribers is evaluated for several versions at once, and other
    /// feeds for each of them. A client could not resume within the long set, so everything up to
    /// its end is one batch. Sets that reach beyond that end extend the batch, until no set does.
    private func joined(after position: UInt64, from version: UInt64, upTo end: UInt64) -> Step {
        var version = version
        while true {
            var entries: [Entry] = []
            var widest = version
            for index in subs.indices {
                var place = position
                walk: while place < end {
                    switch next(of: subs[index], after: place, upTo: end) {
                    case nil: break walk
                    case .lost?: return .lost([index])
                    case .set(let set)? where set.to <= version:
                        entries.append(Entry(index: index, set: set, from: place))
                        place = set.to
                    case .set(let set)?:
                        if set.from < version { widest = max(widest, set.to) }
                        break walk
                    }
                }
            }
            if widest == version {
                entries.sort { ($0.set.to, $0.index) < ($1.set.to, $1.index) }
                return .batch(Batch(version: version, sets: entries))
            }
            version = widest
        }
    }

    /// The next item of one subscription after a position: a change set, or a lost position.
    private enum Next {
        /// The next change set of the subscription, which may be an empty one for a skipped write.
        case set(ChangeSet)
        /// The subscription cannot resume from the position.
        case lost
    }

    /// Returns the next change set of one subscription up to a version, or the empty set that
    /// replaces a skipped write; nil when there is none.
    private func next(of sub: ReadSubscription, after position: UInt64, upTo end: UInt64) -> Next? {
        let (place, set) = sub.feed.next(after: position)
        guard place != .lost, !sub.isLost(at: position) else { return .lost }
        let ready = set.flatMap { $0.to <= end ? $0 : nil }
        guard let skip = sub.skips?.first(after: position, upTo: end), skip <= ready?.to ?? .max, !sub.feed.isOver(at: skip)
        else {
            return ready.map { .set($0) }
        }
        // An empty set takes the place of the set of exactly that version, or of a set of several skipped writes that ends at the last one.
        if let ready, ready.from < skip, skip < ready.to, sub.skips?.first(after: ready.to - 1, upTo: ready.to) != nil {
            return .set(sub.feed.skippedSet(at: ready.to, from: ready.from))
        }
        return .set(sub.feed.skippedSet(at: skip, from: skip))
    }

    /// Returns the position of a client to which everything up to a version was delivered.
    ///
    /// For a definition of a deleted object, read without a registration, that is the version of the deletion. A client that
    /// resumes from there gets that end again, and not a new object with the same key.
    ///
    /// - Parameter end: The newest published version.
    func lastPosition(upTo end: UInt64) -> UInt64 {
        guard subs.count == 1, subs[0].skips == nil, let last = subs[0].feed.end else { return end }
        return min(last, end)
    }

    /// Returns the indexes of the subscriptions that cannot resume from a position.
    func lost(at position: UInt64) -> [Int] {
        subs.indices.filter { subs[$0].feed.next(after: position).0 == .lost || subs[$0].isLost(at: position) }
    }

    /// Returns the number of change sets of all subscriptions that wait for a client, and their size in bytes.
    func backlog(after position: UInt64, upTo end: UInt64) -> (sets: Int, bytes: Int) {
        var total = (sets: 0, bytes: 0)
        for sub in subs {
            let (sets, bytes) = sub.feed.backlog(after: position, upTo: end)
            total.sets += sets
            total.bytes += bytes
        }
        return total
    }
}
