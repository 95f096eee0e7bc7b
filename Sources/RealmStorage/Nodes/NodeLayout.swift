// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The sizes of nodes, which follow from the flags and the element count in their header.
///
/// | byte | content |
/// |---|---|
/// | 0–3 | checksum or capacity, ignored by readers |
/// | 4 | flags: 7 inner, 6 has-refs, 5 context, 4:3 width type, 2:0 width code |
/// | 5–7 | element count, big endian |
///
/// Widths are given as codes: code c means (1 << c) >> 1 bits, or bytes for the width type "multiply". Source: docs/format.md,
/// "Nodes".
@usableFromInline enum NodeLayout {
    /// The size of the header in bytes, which the payload follows.
    @inlinable @inline(__always) static var headerByteCount: Int { 8 }
    /// The flag of inner nodes of trees.
    @inlinable @inline(__always) static var innerFlag: UInt8 { 0x80 }
    /// The flag of nodes whose elements are refs and tagged numbers.
    @inlinable @inline(__always) static var refsFlag: UInt8 { 0x40 }
    /// The context flag, whose meaning depends on the structure: big strings, nodes of search indexes, unresolved links below.
    @inlinable @inline(__always) static var contextFlag: UInt8 { 0x20 }
    /// The two bits of the width type, which state the meaning of the width.
    @inlinable @inline(__always) static var widthTypeMask: UInt8 { 0x18 }
    /// The width type "multiply": the width counts bytes.
    @inlinable @inline(__always) static var multiplyFlag: UInt8 { 0x08 }
    /// The width type "ignore": elements are single bytes, whatever the width is.
    @inlinable @inline(__always) static var ignoreFlag: UInt8 { 0x10 }
    /// The three bits of the width code.
    @inlinable @inline(__always) static var widthCodeMask: UInt8 { 0x07 }
    /// All flags but context and width code, which distinguish one form of node from another.
    @inlinable @inline(__always) static var formMask: UInt8 { innerFlag | refsFlag | widthTypeMask }
    /// The greatest element count that a header can hold.
    @inlinable @inline(__always) static var maximumCount: Int { 0xff_ffff }

    /// Returns the size of the elements in bytes. It is at most 16777215 * 64, so it cannot
    /// overflow. Width type 3 must have been rejected before.
    @inlinable @inline(__always) static func payloadByteCount(flags: UInt8, count: Int) -> Int {
        let width = (1 << Int(flags & widthCodeMask)) >> 1
        switch (flags >> 3) & 3 {
        case 0: return (count * width + 7) >> 3
        case 1: return count * width
        default: return count
        }
    }

    /// Returns the size rounded up to the next multiple of 8, where all nodes begin.
    @inlinable @inline(__always) static func padded(_ byteCount: Int) -> Int { (byteCount + 7) & ~7 }

    /// Returns the size of a node in bytes, header and padding included, from that of its payload.
    @inlinable @inline(__always) static func byteCount(payload byteCount: Int) -> Int { headerByteCount + padded(byteCount) }

    /// Returns the size of a node in bytes, header and padding included, from its flags and element count.
    @inlinable @inline(__always) static func byteCount(flags: UInt8, count: Int) -> Int {
        byteCount(payload: payloadByteCount(flags: flags, count: count))
    }
}
