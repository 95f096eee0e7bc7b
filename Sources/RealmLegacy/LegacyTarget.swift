// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The new file of a conversion, which is written in several commits, so that memory does not grow with the file.
///
/// The file has no readers before it has a name. One thread uses it.
final class LegacyTarget {
    /// The file as it is open at present.
    private var store: FileStore
    private let open: () throws(StorageError) -> FileStore
    /// Whether the file is encrypted.
    private let isEncrypted: Bool
    /// The present transaction.
    private(set) var transaction: WriteTransaction
    /// The greatest size in bytes that the new file may have.
    private let byteLimit: Int
    /// How many bytes a transaction may have, which is committed between objects only.
    private let objectLimit: Int
    /// Gets the progress, and can cancel the conversion.
    let control: WorkControl?

    /// How much a transaction writes before it is committed, in bytes.
    private static let transactionSize = 12 << 20
    /// How much longer than the old file a new one may be, if it is longer than `leastLimit`. A string that many rows have is stored
    /// once in an old file and once per row in a new one; damage could make that endless.
    private static let greatestGrowth = 64
    /// A size in bytes that every new file may have.
    private static let leastLimit = 1 << 30
    /// How many times the old file one object may have, if that is more than `leastObjectLimit`: lists and incoming links of an old
    /// file may take no bytes or one bit each, of which damage could make more than memory holds.
    private static let greatestObjectGrowth = 2
    /// A size in bytes that every object may have, how many times a small file it may have besides, and how much it may have at most
    /// of a file that is not large.
    private static let leastObjectLimit = 32 << 20, greatestGrowthOfSmall = 8, greatestOfSmall = 128 << 20

    /// Opens the file and begins the first transaction.
    ///
    /// - Parameters:
    ///   - oldByteCount: The size of the old file in bytes.
    ///   - control: Gets the progress, and can cancel the conversion.
    ///   - open: Opens the new file, which is empty at first and not open elsewhere.
    init(
        isEncrypted: Bool, oldByteCount: Int, _ control: WorkControl?, _ open: @escaping () throws(StorageError) -> FileStore
    ) throws(StorageError) {
        self.isEncrypted = isEncrypted
        self.open = open
        store = try open()
        transaction = try store.beginTransaction()
        transaction.writes.splitsLongValues = true
        byteLimit = LegacyTarget.byteLimit(forOldFileOf: oldByteCount)
        objectLimit = LegacyTarget.objectLimit(forOldFileOf: oldByteCount)
        self.control = control
    }

    /// Returns the greatest size in bytes that the new file of an old one may have.
    static func byteLimit(forOldFileOf byteCount: Int) -> Int {
        max(leastLimit, byteCount.multipliedReportingOverflow(by: greatestGrowth).overflow ? Int.max : byteCount * greatestGrowth)
    }

    /// Returns how many bytes an object of an old file may have.
    static func objectLimit(forOldFileOf byteCount: Int) -> Int {
        let small = leastObjectLimit + min(byteCount, greatestOfSmall) * greatestGrowthOfSmall
        return max(min(small, greatestOfSmall), byteCount * greatestObjectGrowth)
    }

    /// Whether so much was written that `checkpoint` would commit it.
    var isFull: Bool { transaction.writes.arena.used > LegacyTarget.transactionSize }

    /// Commits what was written so far, if it is much.
    ///
    /// - Throws: The error of the control when the work was cancelled, `.limit` when the file grows too much.
    func checkpoint() throws(StorageError) {
        try control?.check()
        guard isFull else { return }
        let byteCount = try transaction.commit().file.fileByteCount
        guard byteCount <= byteLimit else {
            throw .limit("the converted file has more than \(byteLimit) bytes, which no file of this size should become")
        }
        if isEncrypted {
            // The plain pages of an encrypted file stay in memory for as long as it is open.
            try store.close()
            store = try open()
        }
        transaction = try store.beginTransaction()
        transaction.writes.splitsLongValues = true
    }

    /// Checks how large the present object has become: its lists and incoming links are written before it, in one transaction.
    ///
    /// - Parameter byteCount: How many bytes are written next.
    /// - Throws: The error of the control when the work was cancelled, `.limit` when no object of a file of this size should have so
    ///   much.
    func requireRoom(for byteCount: Int = 0) throws(StorageError) {
        try control?.check()
        guard transaction.writes.arena.used + byteCount <= objectLimit else {
            throw .limit(
                "an object has more than \(objectLimit) bytes of values, lists, incoming links and entries of indexes, which none in a "
                    + "file of this size should have")
        }
    }

    /// Commits the rest and closes the file; returns the last version.
    func finish() throws(StorageError) -> Snapshot {
        try control?.check()
        let snapshot = try transaction.commit()
        try store.close()
        return snapshot
    }

    /// Ends without a commit.
    func abandon() { transaction.end() }
}
