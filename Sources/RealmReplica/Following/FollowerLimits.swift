// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Polling intervals, timeouts for readers, and batch sizes of followers.
package struct FollowerLimits: Sendable {
    /// The number of seconds between two looks at the heads of all realms.
    package var pollSeconds = 0.03
    /// The least number of seconds between two looks while a caller waits for one.
    package var shortestPollSeconds = 0.002
    /// The maximum number of heads in one statement.
    package var headCount = 256
    /// The number of seconds to wait for readers of versions that the next record would overwrite.
    package var patienceSeconds = 2.0
    /// The number of seconds that readers then have to end when asked.
    package var graceSeconds = 0.25
    /// The maximum number of former files of a realm that readers keep. At the maximum the realm lags until a reader ends.
    package var formerFileCount = 4
    /// The number of seconds without an answer of the log after which a realm is stale.
    package var contactSeconds = 3.0
    /// The maximum number of records in one request.
    package var recordCount: UInt64 = 64
    /// The number of requests for records before other realms have their turn.
    package var fetchCount = 4
    /// The maximum number of callers that wait for versions of one realm.
    package var waiterCount = 4096
    /// The number of seconds before a retry: the first, and the maximum.
    package var retrySeconds = (first: 0.1, longest: 5.0)

    /// Makes the usual limits.
    package init() {}
}
