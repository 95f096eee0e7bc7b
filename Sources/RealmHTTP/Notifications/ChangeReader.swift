// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads several subscriptions side by side, version by version.
struct ChangeReader: Sendable {
    let subs: [ReadSubscription]

    /// The next change sets of the subscriptions: those of one version, or of several versions that one set covers.
    struct Batch {
        /// The position after the batch: with it, everything up to this version is delivered.
        let version: UInt64
        let sets: [Entry]
    }

    /// One set of one subscription.
    struct Entry {
        let index: Int
        let set: ChangeSet
        /// The position of its subscription before it.
        let from: UInt64
    }

    enum Step {
        case nothing
        case batch(Batch)
        /// Positions that cannot be resumed, by index.
        case lost([Int])

        /// Whether it is a batch of a version before another.
        func isBefore(_ version: UInt64) -> Bool {
            if case .batch(let batch) = self { return batch.version < version }
            return false
        }
    }

    /// The change sets of the next version after `position` that has any, up to the version `end`.
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

    /// A feed without waiting readers is evaluated for several versions at once, others for each of them. A client could not resume
    /// from the middle of the long set, so everything up to its end is one batch.
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

    private enum Next {
        case set(ChangeSet)
        case lost
    }

    private func next(of sub: ReadSubscription, after position: UInt64, upTo end: UInt64) -> Next? {
        let (place, set) = sub.feed.next(after: position)
        guard place != .lost else { return .lost }
        let ready = set.flatMap { $0.to <= end ? $0 : nil }
        guard let skip = sub.skips?.first(after: position, upTo: end), skip <= ready?.to ?? .max, !sub.feed.isOver(at: skip)
        else {
            return ready.map { .set($0) }
        }
        // An empty set takes the place of the set of exactly that version.
        return .set(sub.feed.skippedSet(at: skip))
    }

    /// The position of a reader after everything up to `end` was delivered. Outside of registrations it stays at the version that
    /// deleted what was observed: a client that resumes from there is told of that end, and not of a new object under the same key.
    func lastPosition(upTo end: UInt64) -> UInt64 {
        guard subs.count == 1, subs[0].skips == nil, let last = subs[0].feed.end else { return end }
        return min(last, end)
    }

    /// Which of the subscriptions cannot be resumed from `position`.
    func lost(at position: UInt64) -> [Int] {
        subs.indices.filter { subs[$0].feed.next(after: position).0 == .lost }
    }

    /// The number and the bytes of the sets that wait for a reader at `position`.
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
