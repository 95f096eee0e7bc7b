// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Keeps the record of every commit, before the commit happens.
///
/// A version exists when its record is stored: `append` is called when everything but the last byte is durable, and only when
/// it returns is the version selected. An error that it throws is treated as a write that the disk has refused.
///
/// The thread that writes calls all functions, without a lock.
package protocol CommitLog: AnyObject, Sendable {
    /// The greatest number of bytes that a record may have. Of a longer commit the record has no bytes, and
    /// `CommitRecord.isWithoutBytes` says so.
    var maximumByteCount: Int { get }

    /// Stores the record of a commit that is about to happen.
    ///
    /// - Throws: `StorageError`; the commit does not happen in this file then. Unless the error is one that `leavesFileBehind`,
    ///   nothing was stored; after such a one the file accepts no writes until it was opened again.
    func append(_ record: CommitRecord) throws(StorageError)

    /// Whether what was stored survives without the file, which is brought up to the log when it is opened again. Then commits are
    /// stored by `append(_:meanwhile:)`, and the file is synced once for each instead of twice.
    var isDurable: Bool { get }

    /// Stores the record of a commit that is about to happen, and does other work while it waits for that.
    ///
    /// - Parameters:
    ///   - work: The work, which is done once, unless an error is thrown before.
    /// - Throws: The errors of `append(_:)`.
    func append(_ record: CommitRecord, meanwhile work: () -> Void) throws(StorageError)

    /// Whether records are stored encrypted with the key of their realm. Only then they may be those of an encrypted file.
    var isEncrypted: Bool { get }

    /// Whether others may store records too, so that the newest version of the file need not be the newest of all.
    var isShared: Bool { get }

    /// Checks that no other owner has stored a record: the newest version of the file was the newest of all when this was called.
    ///
    /// - Throws: `StorageError` when that is not so, or cannot be found out.
    func confirm() throws(StorageError)

    /// Removes the record that was stored last, because the file has refused the last byte of its commit.
    ///
    /// - Returns: Whether it is gone as if it had never been stored. If it is not, the commit counts, and the file accepts no
    ///   writes until it was opened again and has been brought up to the log.
    func takeBack(_ record: CommitRecord) -> Bool

    /// Notes that the commit of the record that was stored last is durable in the file.
    func didCommit(_ record: CommitRecord)

    /// Throws when no other file may take the place of the one that records are about, with the same version in it.
    func requireReplaceable() throws(StorageError)

    /// Notes that another file has taken the place of the one that records were about, with the same version in it.
    func didReplaceFile()
}

/// Most logs belong to one file alone.
extension CommitLog {
    /// False.
    package var isShared: Bool { false }
    /// False.
    package var isDurable: Bool { false }
    /// False.
    package var isEncrypted: Bool { false }

    /// Does the work first.
    package func append(_ record: CommitRecord, meanwhile work: () -> Void) throws(StorageError) {
        work()
        try append(record)
    }

    /// Does nothing.
    package func confirm() throws(StorageError) {}
}
