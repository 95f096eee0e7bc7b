// SPDX-License-Identifier: Apache-2.0

/// Why work was given up before its end.
///
/// A stop is no error of the file or of the request: the same work may succeed with more time, or on another thread. The HTTP
/// layer maps each case to a status of its own.
package enum WorkStop: Sendable, Hashable {
    /// Its time is over.
    case expired
    /// Nobody waits for it any more.
    case cancelled
    /// It takes too long for the thread it was begun on. It is begun anew on another, with `WorkBudget.beginAnew`.
    case handOver
    /// It was about to make more bytes than it may.
    case tooManyBytes(limit: Int)
    /// There is no memory left for what it makes: of all, or of what one principal may have.
    case noRoom(limit: Int, ofPrincipal: Bool)
    /// It was about to follow links to more objects than it may.
    case tooManyObjects(limit: Int)
    /// It was about to keep more values to sort by, or to distinguish rows by.
    case tooManyValues(limit: Int)
}
