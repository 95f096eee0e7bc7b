// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Metrics of a writer: how long writes waited for it, and how long it was held.
///
/// Lookups and views are counts of work rather than time: they show on any machine whether a kind of
/// request does something twice. All threads may read the metrics.
package final class WriteMetrics: Sendable {
    /// A histogram of durations.
    package struct Histogram: Sendable {
        /// The upper bounds of the buckets, in seconds.
        package static let bounds: [Double] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]

        /// The number of durations in each bucket; the last bucket is above all bounds.
        package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        /// The sum of all durations in seconds.
        package private(set) var seconds = 0.0

        /// Adds a duration in seconds.
        mutating func add(_ value: Double) {
            counts[Histogram.bounds.firstIndex { value <= $0 } ?? Histogram.bounds.count] += 1
            seconds += value
        }
    }

    /// All metrics at one instant.
    package struct Counts: Sendable {
        /// The times for which writes waited for the writer.
        package fileprivate(set) var waits = Histogram()
        /// The times for which the writer was held without interruption.
        package fileprivate(set) var holds = Histogram()
        package fileprivate(set) var commits: UInt64 = 0
        /// The number of times that writes looked up an object by its key.
        package fileprivate(set) var lookups: UInt64 = 0
        /// The number of snapshots of uncommitted states that writes made.
        package fileprivate(set) var views: UInt64 = 0
    }

    /// The metrics so far; the lock is a leaf.
    private let state = RankedMutex(.leaf, Counts())

    /// The present metrics. All threads may read them.
    package var counts: Counts { state.withLock { $0 } }

    /// Adds the waiting time of a write, in seconds.
    func noteWait(_ seconds: Double) { state.withLock { $0.waits.add(seconds) } }
    /// Adds the time for which the writer was held, in seconds.
    func noteHold(_ seconds: Double) { state.withLock { $0.holds.add(seconds) } }
    /// Counts a commit.
    func noteCommit() { state.withLock { $0.commits += 1 } }

    /// Adds the counts of a write that has ended.
    func note(_ session: WriteSession) {
        state.withLock { counts in
            counts.lookups += UInt64(session.lookupCount)
            counts.views += UInt64(session.viewCount)
        }
    }
}
