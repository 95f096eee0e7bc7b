// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The new object keys of imported objects that the input names by their object keys, which may differ in another file.
///
/// Exports list objects by ascending keys, and in most imports the new keys equal the old ones.
/// Those are kept as ranges, so the memory needed is small.
struct KeyTranslation: Sendable {
    /// The new keys of objects whose key differs, and of those out of order, by their old keys.
    private var moved: [ObjectKey: ObjectKey] = [:]
    /// Ranges of keys that are the same in both files, ascending and without overlaps.
    private var kept: [ClosedRange<ObjectKey>] = []

    /// The memory in bytes that it takes, about.
    var byteCount: Int { moved.count * 5 * MemoryLayout<ObjectKey>.stride + kept.count * 4 * MemoryLayout<ObjectKey>.stride }

    /// Records that an object has the key `old` where it comes from, and the key `new` in this realm.
    mutating func record(_ old: ObjectKey, _ new: ObjectKey) {
        guard old == new, kept.last.map({ $0.upperBound < old }) ?? true else {
            moved[old] = new
            return
        }
        if let last = kept.last, last.upperBound.rawValue + 1 == old.rawValue {
            kept[kept.count - 1] = last.lowerBound...old
        } else {
            kept.append(old...old)
        }
    }

    /// Returns the new key of an object that was imported; nil for one that was not.
    ///
    /// - Complexity: O(log n) in the number of ranges.
    func new(_ old: ObjectKey) -> ObjectKey? {
        if let new = moved[old] { return new }
        var low = 0
        var high = kept.count
        while low < high {
            let middle = (low + high) / 2
            if kept[middle].upperBound < old { low = middle + 1 } else { high = middle }
        }
        return low < kept.count && kept[low].contains(old) ? old : nil
    }
}
