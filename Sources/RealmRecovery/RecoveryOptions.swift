// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What a recovery looks for, and what it may cost.
package struct RecoveryOptions: Sendable {
    /// The class whose states are wanted; nil for all.
    package var className: String?
    /// Whether present states are lines too.
    package var includesPresent = false
    /// Whether only the versions are wanted, and no states.
    package var onlyVersions = false
    /// The seconds after which the search ends with what it has found.
    package var seconds: Double = 120
    /// The most bytes of values that are kept in memory.
    package var resultBytes = 1 << 29
    /// The binary logarithm of the number of rows of a leaf; 8 in files of all released SDKs.
    package var clusterShift = 8

    /// Makes options with the values that a command without options has.
    package init() {}
}
