// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// How followers look at a log, how long they wait for readers, and how much they do at once.
package struct FollowerLimits: Sendable {
    /// The number of seconds between two looks at the heads of all realms.
    package var pollSeconds = 0.03
    /// The least number of seconds between two looks, when somebody waits for one.
    package var shortestPollSeconds = 0.002
    /// How many heads are asked for in one statement.
    package var headCount = 256
    /// For how many seconds readers are waited for whose versions the next record would overwrite.
    package var patienceSeconds = 2.0
    /// How many seconds they then have to end, after they were told to.
    package var graceSeconds = 0.25
    /// How many former files of a realm may exist because somebody reads them. With so many the realm lags until a reader ends.
    package var formerFileCount = 4
    /// After how many seconds without an answer of the log a realm is not current any more.
    package var contactSeconds = 3.0
    /// How many records are asked for at once.
    package var recordCount: UInt64 = 64
    /// How many times records are asked for before other realms have their turn.
    package var fetchCount = 4
    /// How many may wait for versions of one realm at the same time.
    package var waiterCount = 4096
    /// The number of seconds until what has failed is tried again: the first time, and at most.
    package var retrySeconds = (first: 0.1, longest: 5.0)

    /// Makes the usual limits.
    package init() {}
}
