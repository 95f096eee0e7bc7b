// SPDX-License-Identifier: Apache-2.0

/// Counts of the work that a query did. Tests and tools use them to see whether a limit reached the
/// index.
package final class QueryStatistics {
    /// The number of keys that were read from indexes.
    package internal(set) var indexKeysRead = 0
}
