// SPDX-License-Identifier: Apache-2.0

/// Powers of ten that fit into 128 bits, and digit counts that follow from them.
///
/// The tables are built once, at first use, and are read by all threads.
enum PowersOfTen {
    /// The powers 10^0 to 10^38 in 128 bits.
    static let values: [UInt128] = (0...38).map { power in (0..<power).reduce(UInt128(1)) { product, _ in product * 10 } }

    /// The powers 10^0 to 10^19 in 64 bits.
    static let short: [UInt64] = values.prefix(20).map { UInt64(truncatingIfNeeded: $0) }

    /// Returns how many decimal digits `number` has; 1 for zero.
    static func digitCount(_ number: UInt128) -> Int {
        // 1233/4096 approximates log10(2) from below, so the guess is right or one too small.
        let guess = ((128 - number.leadingZeroBitCount) * 1233) >> 12
        return guess < values.count && number >= values[guess] ? guess + 1 : max(guess, 1)
    }
}
