// SPDX-License-Identifier: Apache-2.0

/// An IEEE 754-2008 decimal in the binary-integer encoding, as two 64-bit words.
///
/// `==` and `hash` of this type compare the *bits*; numeric comparison is `Decimal128.compare`.
package struct Decimal128: Hashable, Sendable {
    package var low: UInt64
    package var high: UInt64

    @inlinable package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The NaN that the format uses for null.
    package static let null = Decimal128(low: 0xaa, high: 0x7c00_0000_0000_0000)
    package static let zero = Decimal128(low: 0, high: 0x3040_0000_0000_0000)

    @inlinable package var isNull: Bool { low == 0xaa && high == 0x7c00_0000_0000_0000 }
}
