// SPDX-License-Identifier: Apache-2.0

/// How many bytes nodes take, of which the file holds flags and element count.
///
/// | byte | content |
/// |---|---|
/// | 0–3 | checksum or capacity, ignored by readers |
/// | 4 | flags: 7 inner, 6 has-refs, 5 context, 4:3 width type, 2:0 width code |
/// | 5–7 | element count, big endian |
///
/// Widths are given as codes: code c stands for (1 << c) >> 1 bits, or bytes for the width type "multiply".
/// Source: docs/format.md, "Nodes".
@usableFromInline enum NodeLayout {
    /// The bytes in front of the payload.
    @inlinable @inline(__always) static var headerByteCount: Int { 8 }
    /// Marks inner nodes of trees.
    @inlinable @inline(__always) static var innerFlag: UInt8 { 0x80 }
    /// Marks nodes whose elements are refs and tagged numbers.
    @inlinable @inline(__always) static var refsFlag: UInt8 { 0x40 }
    /// Means something else for each structure: big strings, nodes of search indexes, unresolved links below.
    @inlinable @inline(__always) static var contextFlag: UInt8 { 0x20 }
    /// The two bits of the width type: how the width is meant.
    @inlinable @inline(__always) static var widthTypeMask: UInt8 { 0x18 }
    /// The width type "multiply": the width counts bytes.
    @inlinable @inline(__always) static var multiplyFlag: UInt8 { 0x08 }
    /// The width type "ignore": elements are single bytes, whatever the width says.
    @inlinable @inline(__always) static var ignoreFlag: UInt8 { 0x10 }
    /// The three bits of the width code.
    @inlinable @inline(__always) static var widthCodeMask: UInt8 { 0x07 }
    /// What tells one form of node from another: all flags but context and width code.
    @inlinable @inline(__always) static var formMask: UInt8 { innerFlag | refsFlag | widthTypeMask }
    /// The greatest element count that a header can hold.
    @inlinable @inline(__always) static var maximumCount: Int { 0xff_ffff }

    /// The bytes of the elements. At most 16777215 * 64, so it cannot overflow. Width type 3 is refused before.
    @inlinable @inline(__always) static func payloadByteCount(flags: UInt8, count: Int) -> Int {
        let width = (1 << Int(flags & widthCodeMask)) >> 1
        switch (flags >> 3) & 3 {
        case 0: return (count * width + 7) >> 3
        case 1: return count * width
        default: return count
        }
    }

    /// Up to the next multiple of 8, where all nodes begin.
    @inlinable @inline(__always) static func padded(_ byteCount: Int) -> Int { (byteCount + 7) & ~7 }

    /// Header, payload and padding.
    @inlinable @inline(__always) static func byteCount(payload byteCount: Int) -> Int { headerByteCount + padded(byteCount) }

    /// Header, payload and padding.
    @inlinable @inline(__always) static func byteCount(flags: UInt8, count: Int) -> Int {
        byteCount(payload: payloadByteCount(flags: flags, count: count))
    }
}
