// SPDX-License-Identifier: Apache-2.0

/// A hash of short sequences of words with a secret key, for proofs that two sets are equal.
///
/// Files may be hostile, so it must be unpredictable which sequences have the same hash: the key is made of random numbers, anew
/// for each check of a file, and never leaves it.
struct ProofHash: Sendable {
    /// The state of the empty sequence.
    let start: UInt64
    /// The part of the key that is mixed into states.
    private let stateKey: UInt64
    /// The part of the key that is mixed into words.
    private let wordKey: UInt64
    /// The parts of the key for the halves of the final product.
    private let finalKeys: (UInt64, UInt64)

    /// Makes a hash with a new key.
    init() {
        var generator = SystemRandomNumberGenerator()
        start = generator.next()
        stateKey = generator.next()
        wordKey = generator.next()
        finalKeys = (generator.next(), generator.next())
    }

    /// Returns the state of a sequence that is one word longer.
    ///
    /// - Parameters:
    ///   - state: The state of the sequence without the word.
    @inline(__always) func step(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let (high, low) = (state ^ stateKey).multipliedFullWidth(by: word ^ wordKey)
        return high ^ low
    }

    /// Returns the state of a sequence that is one word longer, as the other function does.
    @inline(__always) func step(_ state: UInt64, _ word: Int64) -> UInt64 { step(state, UInt64(bitPattern: word)) }

    /// Returns the two words that represent a whole sequence in a sum.
    ///
    /// They do not depend on the state in a linear way, so that sums of other sequences cannot be
    /// made equal by an exchange of words among these.
    @inline(__always) func words(of state: UInt64) -> (high: UInt64, low: UInt64) {
        let turned = state &<< 32 | state &>> 32
        return (state ^ finalKeys.0).multipliedFullWidth(by: turned ^ finalKeys.1)
    }
}
