// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The new file of a conversion, which is written in several commits, so that memory does not grow with the file.
///
/// Nobody reads the file before it has a name. One thread uses it.
final class LegacyTarget {
    /// The file.
    private let store: FileStore
    /// The present transaction.
    private(set) var transaction: WriteTransaction
    /// The greatest size in bytes that the new file may have.
    private let byteLimit: Int
    /// Gets the progress, and can cancel the conversion.
    private let control: WorkControl?

    /// How much a transaction writes before it is committed, in bytes.
    private static let transactionSize = 12 << 20
    /// How much longer than the old file a new one may be, if it is longer than `leastLimit`. A string that many rows have is stored
    /// once in an old file and once per row in a new one; damage could make that endless.
    private static let greatestGrowth = 64
    /// A size in bytes that every new file may have.
    private static let leastLimit = 1 << 30

    /// Makes an empty realm in a new file.
    ///
    /// - Parameters:
    ///   - file: The new file, which is empty.
    ///   - key: The key of the new file; nil for a plain one.
    ///   - oldByteCount: The size of the old file in bytes.
    ///   - control: Gets the progress, and can cancel the conversion.
    init(_ file: NewFile, key: EncryptionKey?, oldByteCount: Int, _ control: WorkControl?) throws(StorageError) {
        store = try FileStore(file, key: key)
        transaction = try store.beginTransaction()
        transaction.writes.splitsLongValues = true
        byteLimit = max(LegacyTarget.leastLimit, oldByteCount * LegacyTarget.greatestGrowth)
        self.control = control
    }

    /// Whether so much was written that `checkpoint` would commit it.
    var isFull: Bool { transaction.writes.arena.used > LegacyTarget.transactionSize }

    /// Commits what was written so far, if it is much.
    ///
    /// - Throws: The error of the control when the work was cancelled, `.limit` when the file grows too much.
    func checkpoint() throws(StorageError) {
        try control?.check()
        guard isFull else { return }
        let snapshot = try transaction.commit()
        guard snapshot.file.fileByteCount <= byteLimit else {
            throw .limit("the converted file has more than \(byteLimit) bytes, which no file of this size should become")
        }
        transaction = try store.beginTransaction()
        transaction.writes.splitsLongValues = true
    }

    /// Commits the rest and closes the file.
    func finish() throws(StorageError) {
        try control?.check()
        _ = try transaction.commit()
        try store.close()
    }

    /// Ends without a commit.
    func abandon() { transaction.end() }
}
