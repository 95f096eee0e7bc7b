// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A sort key: a value as an unsigned number that sorts like it, null first, then NaN, then by size.
///
/// Keys of values of one property type can be compared with each other, keys of different types
/// cannot. Two values have the same key exactly when they are equal in the total order; -0 and 0
/// are. Texts are an exception: their keys have the first 15 bytes only.
package struct OrderKey: Comparable, Hashable, Sendable {
    package let rawValue: UInt128

    @inlinable init(rawValue: UInt128) { self.rawValue = rawValue }

    /// The key of null, less than all others.
    package static let null = OrderKey(rawValue: 0)

    @inlinable package var isNull: Bool { rawValue == 0 }

    /// Returns whether the value of `left` sorts before that of `right`.
    @inlinable package static func < (left: OrderKey, right: OrderKey) -> Bool { left.rawValue < right.rawValue }

    /// The key that sorts in the opposite direction, for descending sorts.
    @inlinable package var reversed: OrderKey { OrderKey(rawValue: ~rawValue) }
}

/// Keys of the types of values that can be sorted.
extension OrderKey {
    /// The highest bits of the key of a NaN, which is above null and below all numbers.
    @usableFromInline static let nan: UInt128 = 1 << 64
    /// The highest bits of the key of a number.
    @usableFromInline static let number: UInt128 = 2 << 64

    /// Makes the key of an integer.
    @inlinable package init(_ value: Int64) {
        rawValue = OrderKey.number | UInt128(UInt64(bitPattern: value) ^ 1 << 63)
    }

    /// Makes the key of a boolean; false is less than true.
    @inlinable package init(_ value: Bool) { self.init(value ? 1 : 0 as Int64) }

    /// Makes the key of a double. Zero and minus zero have the same key; NaNs are below all numbers.
    @inlinable package init(_ value: Double) {
        let bits = (value == 0 ? 0 : value).bitPattern
        guard !value.isNaN else {
            rawValue = OrderKey.nan | UInt128(bits)
            return
        }
        // The greater the bits of a negative number, the less it is, so its bits are inverted; positive
        // numbers sort above.
        rawValue = OrderKey.number | UInt128(bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    }

    /// Makes the key of a float by widening it, which keeps the order, that of NaNs included.
    @inlinable package init(_ value: Float) { self.init(Double(value)) }

    /// Makes the key of a date.
    @inlinable package init(_ value: Timestamp) {
        let seconds = UInt128(UInt64(bitPattern: value.seconds) ^ 1 << 63)
        let nanoseconds = UInt128(UInt32(bitPattern: value.nanoseconds) ^ 1 << 31)
        rawValue = 1 << 96 | seconds << 32 | nanoseconds
    }

    /// Makes the key of a text from its first 15 bytes. Texts with the same key may still differ, so they have to be compared.
    @inlinable package init(prefixOf text: ByteView) {
        let (high, low) = text.leadingBytes
        rawValue = 1 << 120 | (UInt128(high) << 64 | UInt128(low)) >> 8
    }

    /// The first eight bytes of a text that has this key, as a big-endian number.
    @inlinable var leadingBytes: UInt64 { UInt64(truncatingIfNeeded: rawValue >> 56) }

    /// The integer that has this key; meaningful for keys of integers and booleans.
    @inlinable var integer: Int64 { Int64(bitPattern: UInt64(truncatingIfNeeded: rawValue) ^ 1 << 63) }

    /// The double that has this key; meaningful for keys of doubles and floats.
    @inlinable var double: Double {
        let bits = UInt64(truncatingIfNeeded: rawValue)
        guard rawValue >= OrderKey.number else { return Double(bitPattern: bits) }
        return Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits)
    }

    /// The date that has this key; meaningful for keys of dates.
    @inlinable var timestamp: Timestamp {
        Timestamp(
            seconds: Int64(bitPattern: UInt64(truncatingIfNeeded: rawValue >> 32) ^ 1 << 63),
            nanoseconds: Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue) ^ 1 << 31))
    }
}
