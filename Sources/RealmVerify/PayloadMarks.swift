// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The payloads of a Mixed leaf that belong to a value.
struct PayloadMarks {
    /// One bit for each of the first payloads of every slot.
    private var first = SIMD8<UInt64>(repeating: 0)
    /// The bits of the others, slot after slot; empty as long as there are none.
    private var others: [UInt64] = []

    /// How many words of bits a slot has among the others. No leaf of a sound file has more values.
    private static let wordsPerSlot = 16

    /// Marks a payload; returns false for one that was marked before, and for one of a number that
    /// sound leaves do not have.
    mutating func insert(_ index: Int64, _ slot: Int) -> Bool {
        guard index >= 0, index < Int64(PayloadMarks.wordsPerSlot * 64) else { return false }
        let bit: UInt64 = 1 &<< UInt64(index & 63)
        let word = Int(index >> 6)
        if word == 0 {
            defer { first[slot] |= bit }
            return first[slot] & bit == 0
        }
        if others.isEmpty { others = [UInt64](repeating: 0, count: 8 * PayloadMarks.wordsPerSlot) }
        let place = slot * PayloadMarks.wordsPerSlot + word
        defer { others[place] |= bit }
        return others[place] & bit == 0
    }
}
