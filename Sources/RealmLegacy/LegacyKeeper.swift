// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a pass has to remember: the bytes of values that are not in one piece in the file, for as long as they are used, and what
/// could not be read as what it is.
///
/// Only values beyond 16 MiB are split. A value that is met again is kept once. One thread uses it.
final class LegacyKeeper {
    /// The joined values by the nodes that list their parts.
    private var kept: [Ref: ByteStorage] = [:]
    /// How many bytes they have together.
    private var byteCount = 0
    /// How many bytes the file has: values that are kept together share no bytes.
    private let greatest: UInt64
    /// Whether `keep` throws `full` instead of keeping more than `batchByteCount` bytes in several values.
    var isBounded = false
    /// How many tables inside of mixed values were read as null.
    var tableCount = 0

    /// How many bytes are kept for one batch of values, if it is not a single one.
    private static let batchByteCount = 64 << 20
    /// The error of `keep` that asks for a smaller batch.
    static let full = StorageError.limit("values of more than \(batchByteCount) bytes in one batch")

    /// Makes a keeper for a file of some bytes.
    init(_ greatest: UInt64) { self.greatest = greatest }

    /// Returns a value that is kept; nil when it is not.
    func value(at ref: Ref) -> ByteView? { kept[ref]?.view }

    /// Keeps the bytes of a value until `release`.
    ///
    /// - Throws: `full` when they belong into another batch, `.corrupt` when there are more bytes than the file has.
    func keep(_ bytes: [UInt8], at ref: Ref) throws(StorageError) -> ByteView {
        if let known = value(at: ref) { return known }
        let total = byteCount + bytes.count
        guard !isBounded || kept.isEmpty || total <= LegacyKeeper.batchByteCount else { throw LegacyKeeper.full }
        guard UInt64(total) <= greatest else { throw .corrupt(ref: ref, reason: "split values hold more bytes than the file") }
        let storage = ByteStorage(bytes)
        kept[ref] = storage
        byteCount = total
        return storage.view
    }

    /// Gives up everything that was kept.
    func release() {
        kept.removeAll()
        byteCount = 0
    }
}
