// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Object keys between two bounds, one bit for each.
///
/// Long lists of an index are combined in it: a list is read once from the first leaf to the last, and no key is compared with another
/// one. Keys outside of the bounds are not in it and cannot be added.
package struct KeyBitmap: Sendable {
    /// The key of the lowest bit.
    private let first: Int64
    /// The bits, 64 keys to a word, the lowest keys first.
    private var words: [UInt64]

    /// Makes an empty bitmap.
    ///
    /// - Parameters:
    ///   - first: The lowest key that it can have.
    ///   - last: The greatest key that it can have; not below `first`.
    ///   - count: The number of keys that will be added.
    /// - Returns: Nil where the keys are so far apart that the bits would take more memory than the keys.
    package init?(from first: ObjectKey, through last: ObjectKey, forKeys count: Int) {
        guard last >= first else { return nil }
        let wordCount = UInt64(bitPattern: last.rawValue &- first.rawValue) >> 6
        guard wordCount < UInt64(clamping: count) else { return nil }
        self.first = first.rawValue
        words = [UInt64](repeating: 0, count: Int(wordCount) + 1)
    }

    /// The memory of the bits.
    var byteCount: Int { words.count * MemoryLayout<UInt64>.stride }

    package var count: Int { words.reduce(0) { $0 &+ $1.nonzeroBitCount } }

    @inline(__always)
    package func contains(_ key: ObjectKey) -> Bool {
        let number = UInt64(bitPattern: key.rawValue &- first)
        guard number >> 6 < UInt64(words.count) else { return false }
        return words[Int(truncatingIfNeeded: number >> 6)] >> (number & 63) & 1 == 1
    }

    /// Adds a key; one that is not within the bounds is left out.
    @inline(__always)
    package mutating func insert(_ key: ObjectKey) {
        let number = UInt64(bitPattern: key.rawValue &- first)
        guard number >> 6 < UInt64(words.count) else { return }
        words[Int(truncatingIfNeeded: number >> 6)] |= 1 &<< (number & 63)
    }

    /// Adds the keys of a list that are within the bounds.
    ///
    /// - Parameters:
    ///   - budget: The nodes that may be visited in a walk over several lists; nil for a walk over this one alone.
    /// - Throws: `.corrupt` for a damaged list.
    package mutating func insert(_ keys: IndexedKeys, within budget: WalkBudget? = nil) throws(StorageError) {
        try change(by: keys, within: budget) { $0 |= $1 }
    }

    /// Removes the keys of a list; throws `.corrupt` for a damaged one.
    package mutating func remove(_ keys: IndexedKeys) throws(StorageError) {
        try change(by: keys, within: nil) { $0 &= ~$1 }
    }

    /// Removes the keys that are not in another bitmap of the same bounds.
    package mutating func formIntersection(_ other: KeyBitmap) {
        precondition(first == other.first && words.count == other.words.count, "bitmaps of different bounds")
        for index in words.indices { words[index] &= other.words[index] }
    }

    /// Makes an empty bitmap with the bounds of another one.
    package init(withBoundsOf other: KeyBitmap) {
        first = other.first
        words = [UInt64](repeating: 0, count: other.words.count)
    }

    /// The keys, ascending.
    package var keys: [ObjectKey] {
        var keys: [ObjectKey] = []
        keys.reserveCapacity(count)
        for index in words.indices {
            var word = words[index]
            while word != 0 {
                keys.append(ObjectKey(first &+ Int64(index &<< 6 &+ word.trailingZeroBitCount)))
                word &= word &- 1
            }
        }
        return keys
    }

    /// Changes the words that have bits for keys of a list.
    ///
    /// - Parameters:
    ///   - budget: The nodes that may be visited; nil for those of a walk over this list alone.
    ///   - join: Changes a word by the bits of keys.
    @inline(__always)
    private mutating func change(
        by keys: IndexedKeys, within budget: WalkBudget?, _ join: (inout UInt64, UInt64) -> Void
    ) throws(StorageError) {
        try keys.forEachRun(within: budget) { run in
            // Bits are collected as long as they belong to the same word, as those of neighbouring keys mostly do.
            var current: UInt64 = 0
            var bits: UInt64 = 0
            for index in run.indices {
                let number = UInt64(bitPattern: run[index] &- first)
                if number >> 6 != current {
                    if current < UInt64(words.count) { join(&words[Int(truncatingIfNeeded: current)], bits) }
                    current = number >> 6
                    bits = 0
                }
                bits |= 1 &<< (number & 63)
            }
            if current < UInt64(words.count) { join(&words[Int(truncatingIfNeeded: current)], bits) }
        }
    }
}
