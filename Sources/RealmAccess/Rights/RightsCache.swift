// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Resolved rights, for later requests.
///
/// There are two generations: rights that were not used while the young one filled up are forgotten.
final class RightsCache: Sendable {
    /// The number of times that rights were found here.
    struct Counts: Sendable {
        /// The number of look-ups that found rights.
        var hits = 0
        /// The number of look-ups that did not.
        var misses = 0
        /// The number of rights that are kept.
        var entries = 0
    }

    /// The rights of two generations.
    private struct State {
        var young: [[UInt8]: RealmRights] = [:]
        var old: [[UInt8]: RealmRights] = [:]
        var counts = Counts()
    }

    static let generationLimit = 512
    private let state = RankedMutex(.leaf, State())

    /// Makes an empty cache.
    init() {}

    /// Returns the rights with a key; nil when they are not known.
    func find(_ key: [UInt8]) -> RealmRights? {
        state.withLock { state in
            let found = state.young[key] ?? state.old[key]
            if found == nil { state.counts.misses += 1 } else { state.counts.hits += 1 }
            // Rights of the old generation that are used belong to the young one, if it has room.
            if let found, state.young.count < RightsCache.generationLimit { state.young[key] = found }
            return found
        }
    }

    /// Keeps rights under a key.
    func keep(_ rights: RealmRights, _ key: [UInt8]) {
        let dropped = state.withLock { state -> [[UInt8]: RealmRights] in
            var dropped: [[UInt8]: RealmRights] = [:]
            if state.young.count >= RightsCache.generationLimit {
                dropped = state.old
                state.old = state.young
                state.young = [:]
            }
            state.young[key] = rights
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The numbers at present.
    var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.entries = Set(state.young.keys).union(state.old.keys).count
            return counts
        }
    }
}
