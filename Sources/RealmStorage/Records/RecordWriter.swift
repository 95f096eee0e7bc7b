// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes the numbers of a record as bytes, the lowest first.
struct RecordWriter {
    /// The bytes written so far.
    private(set) var bytes: [UInt8] = []

    /// Makes a writer with room for so many bytes.
    init(reserving byteCount: Int) { bytes.reserveCapacity(byteCount) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Writes bytes as they are.
    mutating func raw(_ values: [UInt8]) { bytes.append(contentsOf: values) }

    /// Writes a number of four bytes.
    mutating func word(_ value: UInt32) {
        for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index))) }
    }

    /// Writes a number of eight bytes.
    mutating func long(_ value: UInt64) {
        for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    /// Writes a number in as many bytes as it needs, of seven bits each.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest & 0x7f | 0x80))
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a number with a sign, so that small ones are short.
    mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// Writes a text with its length.
    mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }
}
