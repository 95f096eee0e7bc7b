// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A small generator of random numbers that are the same in every run (SplitMix64).
struct SplitMix {
    /// The state, from which the next number is computed.
    private var state: UInt64

    /// Makes a generator; the same seed gives the same numbers.
    init(_ seed: UInt64) { state = seed }

    /// Returns the next number of 64 bits.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
