// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A set of ranges of bytes, sorted and merged.
struct Extents {
    /// The first bytes of the ranges, ascending.
    private(set) var starts: [UInt64] = []
    /// The bytes after the last ones.
    private(set) var ends: [UInt64] = []

    /// Makes a set of ranges that ascend and do not overlap.
    init(ascending ranges: some Sequence<(UInt64, UInt64)>) {
        for (start, end) in ranges where end > start {
            if let last = ends.last, start <= last {
                ends[ends.count - 1] = max(last, end)
            } else {
                starts.append(start)
                ends.append(end)
            }
        }
    }

    /// Returns whether a byte of a range is in the set.
    func overlaps(_ start: UInt64, _ end: UInt64) -> Bool {
        let index = firstRange(endingAfter: start)
        return index < starts.count && starts[index] < end
    }

    /// Returns whether all bytes of a range are in the set.
    func covers(_ start: UInt64, _ end: UInt64) -> Bool {
        let index = firstRange(endingAfter: start)
        return index < starts.count && starts[index] <= start && ends[index] >= end
    }

    /// The number of ranges.
    var count: Int { starts.count }

    /// Returns the index of the first range that ends after a byte.
    private func firstRange(endingAfter byte: UInt64) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > byte { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
