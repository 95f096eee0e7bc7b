// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A realm that takes over the states of a file that another program writes.
///
/// The thread of a `Follower` calls it.
protocol FollowingRealm: AnyObject, Sendable {
    /// Makes a state of the file the newest version, and publishes how it differs from the one before.
    ///
    /// - Throws: `StorageError` when the versions cannot be compared; nothing has changed then.
    func follow(_ copy: FollowedFile.Copy) throws(StorageError)

    /// Sets or removes the reason for which the realm cannot be read at present.
    func setAbsence(_ error: StorageError?)
}
