// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Which server keeps a log, and what is required of it.
package struct PostgresOptions: Sendable {
    /// What libpq takes: a URL or `name=value` pairs. It may have a password, and is never logged.
    package var address: String
    /// Whether a server without `synchronous_standby_names` is refused, because it alone would have the log.
    package var requiresStandby = false
    /// The number of seconds in which a connection has to be made.
    package var connectSeconds = 3.0
    /// The number of seconds that transfers of bases and records wait for an answer.
    package var transferSeconds = 30.0
    /// The number of requests that wait at the same time, at most.
    package var maximumWaiting = 4096

    package init(_ address: String) { self.address = address }
}
