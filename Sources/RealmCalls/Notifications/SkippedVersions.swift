// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The versions whose changes one registered subscription skips, limited to the newest thousand. Any thread may use it.
package final class SkippedVersions: Sendable {
    /// The number of versions that are kept. Beyond it the older half is dropped; a client that is
    /// so far behind gets the changes of those writes like all others.
    private static let limit = 1000
    /// The skipped versions, guarded by the lock.
    private struct State {
        /// The versions that the subscription skips, in ascending order.
        var versions: [UInt64] = []
        /// The version before which no position can be resumed, because a change that should be skipped is part of a set with others.
        var base: UInt64 = 0
    }

    private let state = RankedMutex(.leaf, State())

    /// Skips nothing.
    package init() {}

    /// Adds the version of a skipped write, which is above all earlier ones.
    package func add(_ version: UInt64) {
        state.withLock { state in
            guard state.versions.last.map({ $0 < version }) ?? true else { return }
            state.versions.append(version)
            if state.versions.count > SkippedVersions.limit { state.versions.removeFirst(SkippedVersions.limit / 2) }
        }
    }

    /// Restarts all positions before a version, because the changes of a skipped write look like any others.
    package func lose(upTo version: UInt64) { state.withLock { $0.base = max($0.base, version) } }

    /// Whether a position cannot be resumed.
    package func isLost(at position: UInt64) -> Bool { state.withLock { position < $0.base } }

    /// Returns the first skipped version in a range; nil when there is none.
    ///
    /// - Parameters:
    ///   - position: The lower end of the range, which does not belong to it.
    ///   - end: The upper end of the range, which belongs to it.
    package func first(after position: UInt64, upTo end: UInt64) -> UInt64? {
        state.withLock { state in
            guard let last = state.versions.last, last > position else { return nil }
            return state.versions.first { $0 > position && $0 <= end }
        }
    }
}
