// SPDX-License-Identifier: Apache-2.0

/// The new keys of objects that are named by object keys, which are others in another file.
///
/// Exports have objects in ascending order, and mostly the new keys are the old ones: those are kept as ranges.
struct KeyTranslation: Sendable {
    private var moved: [Int64: Int64] = [:]
    /// Ascending ranges of keys that are the same.
    private var kept: [ClosedRange<Int64>] = []

    /// Notes that the object which had the key `old` where it comes from has the key `new` here.
    mutating func record(_ old: Int64, _ new: Int64) {
        guard old == new, kept.last.map({ $0.upperBound < old }) ?? true else {
            moved[old] = new
            return
        }
        if let last = kept.last, last.upperBound + 1 == old {
            kept[kept.count - 1] = last.lowerBound...old
        } else {
            kept.append(old...old)
        }
    }

    /// The new key of an object that came in; nil for one that did not yet.
    func new(_ old: Int64) -> Int64? {
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
