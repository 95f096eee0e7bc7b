// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The time that a streamed answer has: as long as its client reads, but no part of it may take longer than a whole
/// document.
///
/// `@unchecked Sendable`: belongs to one producer, which one worker at a time asks for a chunk.
final class StreamPace: @unchecked Sendable {
    /// What a search for the next rows came to.
    enum Found {
        case leaf(ClusterLeaf, Mask)
        /// Nothing yet, and others want to work too.
        case later
        case end
    }

    private let budget: WorkBudget
    private let secondsPerChunk: Double
    private var restAt = Instant.distantFuture

    /// A search goes on so long before it lets others work.
    private static let secondsOfSearch = 0.1

    /// The pace of a stream whose query was begun in time. From here on `budget` has time for one part after the other.
    init(_ budget: WorkBudget, _ limits: Limits) {
        self.budget = budget
        secondsPerChunk = Double(limits.readSeconds)
        // Found and begun in time, the rest is made piece by piece.
        budget.deadline = .distantFuture
    }

    /// The next piece has time of its own.
    func beginChunk() {
        let now = Instant.now()
        budget.deadline = now.adding(seconds: secondsPerChunk)
        restAt = now.adding(seconds: StreamPace.secondsOfSearch)
    }

    /// The next rows, if they are found soon. Throws when the client has left.
    func next(_ cursor: MatchCursor) throws -> Found {
        if let (leaf, rows) = try cursor.next(check: { [budget] in budget.goesOn }, pauseAt: restAt) { return .leaf(leaf, rows) }
        return cursor.isPaused ? .later : .end
    }
}
