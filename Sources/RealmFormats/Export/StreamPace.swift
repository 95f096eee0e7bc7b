// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Limits the time that each chunk of a streamed response may take.
///
/// A stream lasts as long as its client reads, up to a separate limit. But no chunk may take longer than a whole document, and a
/// search without results pauses often, so that other work gets its turn.
///
/// `@unchecked Sendable`: it belongs to one producer, which is called for one chunk at a time.
package final class StreamPace: @unchecked Sendable {
    /// The result of a search for the next rows.
    enum Found {
        /// The next leaf with matches, and its matching rows.
        case leaf(ClusterLeaf, Mask)
        /// Nothing yet; the search continues with the next chunk, so that other work gets its turn.
        case later
        /// There are no more matches.
        case end
    }

    /// The budget of the request, whose deadline is set for each chunk.
    private let budget: WorkBudget
    /// The largest number of seconds that the work on one chunk may take.
    private let secondsPerChunk: Double
    /// The time at which the search of the present chunk pauses.
    private var restAt = Instant.distantFuture

    /// The number of seconds after which a search without results yields to other work.
    private static let secondsOfSearch = 0.1

    /// Creates the pace of a stream whose query was bound, and if necessary sorted, within the time of the request. The deadline
    /// of the request is lifted: from here on each chunk has its own.
    ///
    /// - Parameters:
    ///   - budget: The budget of the request.
    ///   - secondsPerChunk: The time limit of one chunk; nil for none.
    package init(_ budget: WorkBudget, _ secondsPerChunk: Int?) {
        self.budget = budget
        self.secondsPerChunk = Double(secondsPerChunk ?? Int(Int32.max))
        // The query was bound in time; the rest is made chunk by chunk.
        budget.deadline = .distantFuture
    }

    /// Sets the deadline of the next chunk, counted from now.
    package func beginChunk() {
        let now = Instant.now()
        budget.deadline = now.adding(seconds: secondsPerChunk)
        restAt = now.adding(seconds: StreamPace.secondsOfSearch)
    }

    /// Returns the next rows of a search, if they are found soon.
    ///
    /// - Throws: An error of storage, or that the search was stopped, because the client has left
    ///   or the chunk's time is used up.
    func next(_ cursor: MatchCursor) throws -> Found {
        if let (leaf, rows) = try cursor.next(check: { [budget] in budget.continues }, pauseAt: restAt) {
            return .leaf(leaf, rows)
        }
        return cursor.isPaused ? .later : .end
    }
}
