// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Numbers the objects of a class from 0 on by their keys, without many numbers that no object has.
///
/// Keys count up in most classes. Keys of classes without primary key are spread: their bits 8 to 15 are 0, and are left out of
/// the number.
struct CompactKeys {
    /// The maximum distance of keys, as the binary logarithm of the numbers for each object.
    private static let mostSpread = 7
    /// The bits that are 0 in spread keys.
    private static let spreadBits: Int64 = 0xff00

    /// Whether bits 8 to 15 of all keys are 0.
    private let isSpread: Bool
    /// The number after that of the greatest key.
    let count: Int

    /// Finds out how the keys of a class are spread.
    ///
    /// - Returns: Nil when they are too far apart to be numbered.
    /// - Throws: A storage error when the file is damaged.
    init?(of table: Table) throws(StorageError) {
        guard table.count > 0, let last = try table.objects.row(at: table.count - 1)?.key.rawValue, last >= 0 else { return nil }
        if last >> CompactKeys.mostSpread <= table.count {
            isSpread = false
            count = Int(last) + 1
            return
        }
        let compact = CompactKeys.compact(last)
        guard last & CompactKeys.spreadBits == 0, compact >> CompactKeys.mostSpread <= table.count else { return nil }
        isSpread = true
        count = Int(compact) + 1
    }

    /// Leaves bits 8 to 15 out of a key.
    private static func compact(_ key: Int64) -> Int64 { key & 0xff | (key >> 16) << 8 }

    /// Returns the number of a key; nil for a negative one, for one beyond the greatest of the class, and for one that is not spread as
    /// they are.
    @inline(__always) func number(of key: ObjectKey) -> Int? {
        var key = key.rawValue
        if isSpread {
            guard key & CompactKeys.spreadBits == 0 else { return nil }
            key = CompactKeys.compact(key)
        }
        return key >= 0 && key < count ? Int(truncatingIfNeeded: key) : nil
    }
}
