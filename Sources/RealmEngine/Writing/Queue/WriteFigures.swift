// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How long writes waited for the writer, and how long they held it.
///
/// The lookups and views are counts of work, not of time: they show on any machine whether a kind of request does something
/// twice.
package final class WriteFigures: Sendable {
    /// Durations by their length.
    package struct Histogram: Sendable {
        /// Upper bounds in seconds.
        package static let bounds: [Double] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]

        /// How many were within each bound and above the one before it; the last ones are above all bounds.
        package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        /// The sum of all durations in seconds.
        package private(set) var seconds = 0.0

        /// Adds a duration in seconds.
        mutating func add(_ value: Double) {
            counts[Histogram.bounds.firstIndex { value <= $0 } ?? Histogram.bounds.count] += 1
            seconds += value
        }
    }

    /// All figures at one moment.
    package struct Figures: Sendable {
        /// How long writes waited for the writer.
        package fileprivate(set) var waits = Histogram()
        /// How long the writer was held at a time.
        package fileprivate(set) var holds = Histogram()
        /// How many commits there were.
        package fileprivate(set) var commits: UInt64 = 0
        /// How often writes looked an object up by its key.
        package fileprivate(set) var lookups: UInt64 = 0
        /// How often writes made a snapshot of their uncommitted state.
        package fileprivate(set) var views: UInt64 = 0
    }

    /// The figures so far.
    private let state = RankedMutex(.leaf, Figures())

    /// The figures now. May be asked from any thread.
    package var figures: Figures { state.withLock { $0 } }

    /// Adds the wait of a write in seconds.
    func noteWait(_ seconds: Double) { state.withLock { $0.waits.add(seconds) } }
    /// Adds in seconds how long the writer was held.
    func noteHold(_ seconds: Double) { state.withLock { $0.holds.add(seconds) } }
    /// Counts a commit.
    func noteCommit() { state.withLock { $0.commits += 1 } }

    /// Adds what a write did, when it is over.
    func note(_ session: WriteSession) {
        state.withLock { figures in
            figures.lookups += UInt64(session.lookupCount)
            figures.views += UInt64(session.viewCount)
        }
    }
}
