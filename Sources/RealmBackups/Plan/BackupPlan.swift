// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// The schedule, the target and the retention of automatic backups.
package struct BackupPlan: Sendable {
    /// The time from the begin of one round of backups to that of the next.
    package var every: Duration
    /// Which backups are kept; nil for all of them.
    package var retention: BackupRetention?
    package var store: any BackupStore
    /// The configured store; nil when the store was made by other code.
    package var target: BackupTarget?
    /// The key of the backups; nil for that of each realm.
    package var key: EncryptionKey?

    /// Returns the time of each backup, which its name has.
    package var clock: @Sendable () -> WallClock = { .now() }

    /// The range of `every`.
    package static let intervals: ClosedRange<Duration> = .seconds(1) ... .seconds(366 * 86_400)

    /// Makes a plan that keeps all backups under the keys of their realms.
    ///
    /// - Parameters:
    ///   - every: The time between the begins of two rounds, within `intervals`.
    package init(every: Duration, to store: any BackupStore) {
        self.every = every
        self.store = store
    }

    /// Returns this plan with other folders for the temporary files of its store.
    ///
    /// - Parameter folders: The folders to try, in order.
    package func makingFiles(inOneOf folders: [String]) -> BackupPlan {
        var plan = self
        plan.store = store.makingFiles(inOneOf: folders)
        return plan
    }
}
