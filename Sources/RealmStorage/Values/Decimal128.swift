// SPDX-License-Identifier: Apache-2.0

/// An IEEE 754-2008 decimal in the binary-integer encoding, as two 64-bit words.
///
/// `==` and `hash` of this type compare the *bits*; numeric comparison is `Decimal128.compare`.
package struct Decimal128: Hashable, Sendable {
    /// The lower 64 bits of the coefficient.
    package var low: UInt64
    /// Sign, exponent and the upper bits of the coefficient.
    package var high: UInt64

    /// Makes a decimal from its two stored words.
    @inlinable package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The NaN that the format uses for null.
    package static let null = Decimal128(low: 0xaa, high: 0x7c00_0000_0000_0000)
    /// The number zero with exponent 0.
    package static let zero = Decimal128(low: 0, high: 0x3040_0000_0000_0000)

    /// Whether these are the bits that mean null: a NaN that no calculation results in.
    @inlinable package var isNull: Bool { low == 0xaa && high == 0x7c00_0000_0000_0000 }
}
