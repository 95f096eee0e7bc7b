// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Counts of the work that a query did. Tests and tools use them to see whether a limit reached the index.
package final class QueryStatistics {
    /// The number of object keys that the query has read from indexes so far. Keys found by a full-text search count when they
    /// are taken.
    package internal(set) var indexKeysRead = 0
}
