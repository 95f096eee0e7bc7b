// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The target, the delay and the retention of shipped commits.
package struct ShipPlan: Sendable, Equatable {
    /// The folder or the bucket; nil when nothing is shipped.
    package var target: BackupTarget?
    /// The interval of checks for waiting commits.
    package var every: Duration = .milliseconds(250)
    /// Which bases are kept, with the records that follow them; nil for all.
    package var retention: BackupRetention?
    /// The connection to the bucket.
    package var endpoint: String?, region: String?, credentials: String?

    /// The range of `every`.
    package static let intervals: ClosedRange<Duration> = .milliseconds(50) ... .seconds(86_400)

    /// Makes a plan that ships nothing.
    package init() {}

    /// The target with how it is reached; nil when nothing is shipped.
    package var wholeTarget: BackupTarget? {
        guard var target else { return nil }
        (target.endpoint, target.region, target.credentials) = (endpoint, region, credentials)
        return target
    }

    /// Makes the store; nil when nothing is shipped.
    ///
    /// - Parameter environment: Returns the value of a variable of the environment; nil when it is not set.
    /// - Throws: The first thing that is wrong.
    package func store(_ environment: (String) -> String?) throws(BackupTarget.Rejection) -> (any BackupStore)? {
        guard let wholeTarget else { return nil }
        return try wholeTarget.store(environment)
    }
}
