// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A set of places of a file that are multiples of 8: one bit for each, so a file of n bytes takes n / 64 bytes of memory.
struct PlaceMarks {
    /// The bits, 64 places a word.
    private var words: [UInt64]

    /// Makes an empty set for a file of `byteCount` bytes.
    init(byteCount: UInt64) { words = [UInt64](repeating: 0, count: Int(byteCount >> 9) + 1) }

    @inline(__always) func contains(_ place: UInt64) -> Bool {
        let word = Int(place >> 9)
        return word < words.count && words[word] >> (place >> 3 & 63) & 1 == 1
    }

    /// Adds a place; returns whether it was new.
    @discardableResult @inline(__always) mutating func insert(_ place: UInt64) -> Bool {
        let bit = UInt64(1) << (place >> 3 & 63)
        let word = Int(place >> 9)
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        return true
    }

    /// Adds all places of a range.
    mutating func insert(from start: UInt64, to end: UInt64) {
        PlaceMarks.forEachWord(start, end) { word, mask in
            words[word] |= mask
            return true
        }
    }

    /// Returns whether a place of a range is in the set.
    func containsAny(from start: UInt64, to end: UInt64) -> Bool {
        var found = false
        PlaceMarks.forEachWord(start, end) { word, mask in
            found = word < words.count && words[word] & mask != 0
            return !found
        }
        return found
    }

    /// Returns the first place of the set from `start` on and below `end`; nil for none.
    func next(from start: UInt64, below end: UInt64) -> UInt64? {
        var word = Int(start >> 9)
        guard word < words.count, start < end else { return nil }
        var bits = (words[word] >> (start >> 3 & 63)) << (start >> 3 & 63)
        while bits == 0 {
            word += 1
            guard word < words.count, UInt64(word) << 9 < end else { return nil }
            bits = words[word]
        }
        let place = UInt64(word) << 9 + UInt64(bits.trailingZeroBitCount) << 3
        return place < end ? place : nil
    }

    /// Returns the first place from `start` on and below `end` that is not in the set; `end` for none.
    func nextFree(from start: UInt64, below end: UInt64) -> UInt64 {
        var place = start
        while place < end {
            let word = Int(place >> 9)
            guard word < words.count else { return place }
            let bits = ~words[word] >> (place >> 3 & 63)
            if bits != 0 { return min(place + UInt64(bits.trailingZeroBitCount) << 3, end) }
            place = UInt64(word + 1) << 9
        }
        return end
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Calls `body` with each word that has places of a range, and a mask of these, until it returns false.
    @inline(__always) private static func forEachWord(_ start: UInt64, _ end: UInt64, _ body: (Int, UInt64) -> Bool) {
        var bit = start >> 3
        let last = (end + 7) >> 3
        while bit < last {
            let count = min(64 - bit & 63, last - bit)
            let mask = (count == 64 ? UInt64.max : (UInt64(1) << count) - 1) << (bit & 63)
            guard body(Int(bit >> 6), mask) else { return }
            bit += count
        }
    }
}
