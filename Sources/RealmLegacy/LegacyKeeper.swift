// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The memory of a pass: the bytes of values that are not in one piece in the file, and the number of tables that read as null.
///
/// Only values beyond 16 MiB are split. A value that is met again is kept once. One thread uses it.
final class LegacyKeeper {
    /// The joined values by the nodes that list their parts.
    private var kept: [Ref: ByteStorage] = [:]
    /// How many bytes they have together.
    private var byteCount = 0
    /// How many bytes the file has: values that are kept together share no bytes.
    private let greatest: UInt64
    /// How many bytes are joined at most until the keeper goes, however often they are released.
    private let joinLimit: Int
    /// How many more of them may be joined.
    private var joinsLeft: Int
    /// Whether `keep` throws instead of keeping more than `batchByteCount` bytes in several values.
    var isBounded = false
    /// Whether `keep` has thrown for that reason since this was set to false.
    var isFull = false
    /// How many tables inside of mixed values were read as null.
    var tableCount = 0

    /// How many bytes are kept for one batch of values, if it is not a single one.
    private static let batchByteCount = 64 << 20
    /// How many bytes a part costs besides its own.
    private static let costOfPart = 64

    /// Makes a keeper for a file of some bytes.
    init(_ greatest: UInt64) {
        self.greatest = greatest
        joinLimit = LegacyTarget.byteLimit(forOldFileOf: Int(clamping: greatest))
        joinsLeft = joinLimit
    }

    /// Counts a part of a value that is joined. Rows that share one value have it joined once in each batch.
    ///
    /// - Parameter byteCount: The length of the part.
    /// - Throws: `.limit` when all rows have more bytes than a conversion of the file may write.
    func spend(partOf byteCount: Int) throws(StorageError) {
        joinsLeft -= byteCount + LegacyKeeper.costOfPart
        guard joinsLeft >= 0 else {
            throw .limit("rows share split values of more than \(joinLimit) bytes, which no file of this size should have")
        }
    }

    /// Returns a value that is kept; nil when it is not.
    func value(at ref: Ref) -> ByteView? { kept[ref]?.view }

    /// Keeps the bytes of a value until `release`.
    ///
    /// - Throws: `.limit` when they belong into another batch; `isFull` is set then. `.corrupt` when there are more bytes than the file has.
    func keep(_ bytes: [UInt8], at ref: Ref) throws(StorageError) -> ByteView {
        if let known = value(at: ref) { return known }
        let total = byteCount + bytes.count
        guard !isBounded || kept.isEmpty || total <= LegacyKeeper.batchByteCount else {
            isFull = true
            throw .limit("values of more than \(LegacyKeeper.batchByteCount) bytes in one batch")
        }
        guard UInt64(total) <= greatest else { throw .corrupt(ref: ref, reason: "split values hold more bytes than the file") }
        let storage = ByteStorage(bytes)
        kept[ref] = storage
        byteCount = total
        return storage.view
    }

    /// Takes over the number of tables from another keeper, which releases all bytes.
    func take(_ other: LegacyKeeper) {
        tableCount += other.tableCount
        other.tableCount = 0
        other.release()
    }

    /// Releases all bytes that are kept.
    func release() {
        kept.removeAll()
        byteCount = 0
    }
}
