// SPDX-License-Identifier: Apache-2.0

/// The reasons for which work is stopped before its end.
///
/// A stop is neither an error of the file nor one of the request: the same work may succeed with
/// more time, or on another thread. The HTTP layer maps each case to a status of its own.
package enum WorkStop: Sendable, Hashable {
    /// The deadline of the work has passed.
    case expired
    /// No client waits for the result any more.
    case cancelled
    /// The work takes too long for the thread on which it was begun. It begins again on another, with `WorkBudget.beginAnew`.
    case handOver
    /// The work was about to produce more bytes than it may.
    case tooManyBytes(limit: Int)
    /// There is no memory left for the result: of all memory for results, or of the share that one principal may have.
    case noRoom(limit: Int, ofPrincipal: Bool)
    /// The work was about to follow links to more objects than it may.
    case tooManyObjects(limit: Int)
    /// The work was about to keep more values than it may: to sort rows or to distinguish them, to compare them, for searches, or for
    /// groups.
    case tooManyValues(limit: Int)
    /// A result has more groups than allowed.
    case tooManyGroups(limit: Int)
}
