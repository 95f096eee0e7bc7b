// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads several subscriptions side by side, version by version.
struct ChangeReader: Sendable {
    let subs: [ReadSubscription]

    /// What the subscriptions have to tell next: of one version, or of several that cannot be told apart.
    struct Batch {
        /// Everything up to here is told with it, and not before: the position behind it.
        let version: UInt64
        let sets: [Entry]
    }

    /// One set of one subscription.
    struct Entry {
        let index: Int
        let set: ChangeSet
        /// Where its subscription stands before it.
        let from: UInt64
    }

    enum Step {
        case nothing
        case batch(Batch)
        /// Positions that cannot be resumed, by index.
        case lost([Int])

        /// Whether it tells of a version before another.
        func isBefore(_ version: UInt64) -> Bool {
            if case .batch(let batch) = self { return batch.version < version }
            return false
        }
    }

    /// The next version after `position` of which anything is told.
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

    /// A subscription that nobody waited for was led over several versions at once, and others were told of each of them.
    /// Nobody could go on from the middle of its set, so all of this is one step.
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
        let (place, set) = sub.channel.next(after: position)
        guard place != .lost else { return .lost }
        let ready = set.flatMap { $0.to <= end ? $0 : nil }
        guard let skip = sub.skips?.first(after: position, upTo: end), skip <= ready?.to ?? .max, !sub.channel.isOver(at: skip)
        else {
            return ready.map { .set($0) }
        }
        // The set of exactly that version is put aside for one that says nothing.
        return .set(sub.channel.skippedSet(at: skip))
    }

    /// How far the position of a reader may go that has been told everything up to `end`. In the simple form it stays where
    /// what was observed ended: by that it is known again when something else is there under the same names.
    func lastPosition(upTo end: UInt64) -> UInt64 {
        guard subs.count == 1, subs[0].skips == nil, let last = subs[0].channel.end else { return end }
        return min(last, end)
    }

    /// Which of the subscriptions cannot be resumed from `position`.
    func lost(at position: UInt64) -> [Int] {
        subs.indices.filter { subs[$0].channel.next(after: position).0 == .lost }
    }

    /// Sets that wait for a reader at `position`, as far as counting is worth it.
    func backlog(after position: UInt64, upTo end: UInt64) -> (sets: Int, bytes: Int) {
        var total = (sets: 0, bytes: 0)
        for sub in subs {
            let (sets, bytes) = sub.channel.backlog(after: position, upTo: end)
            total.sets += sets
            total.bytes += bytes
        }
        return total
    }
}
