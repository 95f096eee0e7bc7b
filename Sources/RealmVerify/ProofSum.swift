// SPDX-License-Identifier: Apache-2.0

/// A sum of hashes of sequences, with which two collections of sequences are compared whatever the order in which they come.
///
/// Elements of one are added, elements of the other subtracted. The sum of equal collections is zero, and that of others is not,
/// but for a chance of about 1 in 2^64.
struct ProofSum: Sendable {
    /// The sum of the higher words, modulo 2^64.
    private var high: UInt64 = 0
    /// The sum of the lower words, modulo 2^64.
    private var low: UInt64 = 0

    /// Whether as much was subtracted as was added.
    var isZero: Bool { high | low == 0 }

    /// Adds a sequence.
    ///
    /// - Parameters:
    ///   - state: The state of the whole sequence.
    ///   - hash: The hash that made it.
    @inline(__always) mutating func add(_ state: UInt64, _ hash: ProofHash) {
        let words = hash.words(of: state)
        high &+= words.high
        low &+= words.low
    }

    /// Subtracts a sequence, as `add` adds it.
    @inline(__always) mutating func subtract(_ state: UInt64, _ hash: ProofHash) {
        let words = hash.words(of: state)
        high &-= words.high
        low &-= words.low
    }

    mutating func add(_ other: ProofSum) {
        high &+= other.high
        low &+= other.low
    }
}
