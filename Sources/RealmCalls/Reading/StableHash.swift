// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A 64-bit hash with the same result in every process, for cursors and entity tags.
///
/// It is fast and well distributed, but no protection against a client that chooses the input. Words
/// are mixed by a multiplication of 64 by 64 bits, bytes eight at a time.
package struct StableHash: Sendable {
    /// Everything that was added, mixed into one word.
    private var state: UInt64

    /// Creates a hash of nothing. Different seeds give unrelated hashes of the same input.
    package init(seed: UInt64 = 0) { state = seed ^ 0x2d35_8dcc_aa6c_78a5 }

    /// Adds a word. The order of additions matters.
    package mutating func add(_ word: UInt64) {
        let product = (state ^ word ^ 0x8bb8_4b93_962e_acc9).multipliedFullWidth(by: 0x4b33_a62e_d433_d4a3)
        state = product.high ^ product.low &+ 0x9e37_79b9_7f4a_7c15
    }

    /// Adds bytes and their number, so that two additions differ from one addition of both together.
    ///
    /// - Complexity: O(n) in the number of bytes.
    package mutating func add(_ bytes: some Collection<UInt8>) {
        add(UInt64(bytes.count))
        var word: UInt64 = 0
        var filled: UInt64 = 0
        for byte in bytes {
            word |= UInt64(byte) << (filled * 8)
            filled += 1
            if filled == 8 {
                add(word)
                word = 0
                filled = 0
            }
        }
        if filled > 0 { add(word) }
    }

    /// Adds the UTF-8 bytes of a text and their number.
    package mutating func add(_ text: String) { add(text.utf8) }

    /// The hash of everything that was added so far. More can be added afterwards.
    package var value: UInt64 {
        var copy = self
        copy.add(0xd6e8_feb8_6659_fd93)
        return copy.state
    }
}
