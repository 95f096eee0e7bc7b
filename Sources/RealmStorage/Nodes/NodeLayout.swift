// SPDX-License-Identifier: Apache-2.0

/// How many bytes nodes take, of which the file holds flags and element count.
///
/// Source: docs/format.md, "Nodes".
@usableFromInline enum NodeLayout {
    @usableFromInline static let headerByteCount = 8

    /// The bytes of the elements. At most 16777215 * 64, so it cannot overflow. Width type 3 is refused before.
    @inlinable @inline(__always) static func payloadByteCount(flags: UInt8, count: Int) -> Int {
        let width = (1 << Int(flags & 7)) >> 1
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
