// SPDX-License-Identifier: Apache-2.0

/// Counts of the work that a query did, by which tests and tools can see whether a limit reached the index.
package final class QueryStatistics {
    /// Keys of objects that were read from indexes.
    package internal(set) var indexKeysRead = 0
}
