// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A node of the evidence, wherever it lies: in the present version, in free space, or behind the logical size.
///
/// Unlike `Node` of storage it has no space that vouches for it. A `NodeReader` states whether it may be believed.
/// Source: docs/format.md, "Nodes".
struct RawNode {
    /// The offset of the header in the plain bytes.
    let ref: UInt64
    /// The eight header bytes as a big-endian number.
    let header: UInt64
    /// The elements with the padding after them.
    let content: ByteView

    /// The first four bytes that every writer of formats 20 to 24 puts into a header: "AAAA".
    static let mark: UInt64 = 0x4141_4141
    /// The size of a header in bytes.
    static let headerByteCount: UInt64 = 8

    /// Reads the node at a ref; nil when no node can be there.
    ///
    /// - Parameters:
    ///   - bytes: The plain bytes of the file.
    ///   - ref: The offset of the header.
    ///   - limit: The end of the last node, not beyond the bytes.
    init?(_ bytes: ByteView, at ref: UInt64, limit: UInt64) {
        guard ref & 7 == 0, ref >= 24, ref < limit, limit - ref >= RawNode.headerByteCount else { return nil }
        let header = bytes.word(at: Int(ref))
        guard let byteCount = RawNode.byteCount(ofHeader: header), byteCount <= limit - ref else { return nil }
        self.ref = ref
        self.header = header
        content = bytes.slice(Int(ref) + 8, Int(ref + byteCount))
    }

    /// Returns the size in bytes of a node with a header; nil for impossible flags.
    static func byteCount(ofHeader header: UInt64) -> UInt64? {
        let flags = UInt8(truncatingIfNeeded: header >> 24)
        let hasRefs = flags & 0x40 != 0
        let widthType = flags >> 3 & 3
        guard widthType != 3, flags & 0x80 == 0 || hasRefs, !hasRefs || widthType == 0 else { return nil }
        return headerByteCount + (payloadByteCount(flags: flags, count: header & 0xff_ffff) + 7) / 8 * 8
    }

    /// Returns the size of the elements of a node in bytes, without padding.
    private static func payloadByteCount(flags: UInt8, count: UInt64) -> UInt64 {
        let width = (UInt64(1) << UInt64(flags & 7)) >> 1
        switch flags >> 3 & 3 {
        case 0: return (count * width + 7) / 8
        case 1: return count * width
        default: return count
        }
    }

    /// The flags of the header.
    var flags: UInt8 { UInt8(truncatingIfNeeded: header >> 24) }
    /// Whether the header begins with the mark of all writers.
    var isMarked: Bool { header >> 32 == RawNode.mark }
    /// Whether this is an inner node of a tree.
    var isInner: Bool { flags & 0x80 != 0 }
    /// Whether the elements are refs and tagged numbers.
    var hasRefs: Bool { flags & 0x40 != 0 }
    /// Whether the context flag is set.
    var hasContext: Bool { flags & 0x20 != 0 }
    /// The width type: 0 for bits, 1 for bytes, 2 for single bytes.
    var widthType: Int { Int(flags >> 3 & 3) }
    /// The width of an element: 0, 1, 2, 4 … 64.
    var width: Int { (1 << Int(flags & 7)) >> 1 }
    /// The number of elements.
    var count: Int { Int(header & 0xff_ffff) }
    /// The size of the whole node in bytes.
    var byteCount: UInt64 { RawNode.headerByteCount + UInt64(content.count) }
    /// The offset of the first byte after the node.
    var end: UInt64 { ref + byteCount }

    /// The elements as bytes, without padding.
    var payload: ByteView {
        content.slice(0, Int(RawNode.payloadByteCount(flags: flags, count: UInt64(count))))
    }

    /// Returns element `index` of a bit-packed node; widths below 8 are unsigned, the others signed. An index past the end reads
    /// 0.
    @inline(__always) func integer(_ index: Int) -> Int64 {
        let word = bits(index)
        switch width {
        case 64: return Int64(bitPattern: word)
        case 32: return Int64(Int32(truncatingIfNeeded: word))
        case 16: return Int64(Int16(truncatingIfNeeded: word))
        case 8: return Int64(Int8(truncatingIfNeeded: word))
        default: return Int64(bitPattern: word)
        }
    }

    /// Returns element `index` of a bit-packed node as an unsigned number, as in arrays of keys and offsets.
    @inline(__always) func unsigned(_ index: Int) -> UInt64 { bits(index) }

    /// Returns slot `index` of a node with refs as it is stored: 0 for nothing, odd for a number, else a ref.
    @inline(__always) func slot(_ index: Int) -> UInt64 { UInt64(bitPattern: integer(index)) }

    /// Returns the number in a slot without its tag; nil for a slot that is 0 or has a ref.
    func number(inSlot index: Int) -> UInt64? {
        let raw = slot(index)
        return raw & 1 == 1 ? raw >> 1 : nil
    }

    /// Returns the ref in a slot; nil for a slot that is 0 or has a number.
    func child(_ index: Int) -> UInt64? {
        let raw = slot(index)
        return raw != 0 && raw & 1 == 0 ? raw : nil
    }

    /// Returns the bits of an element, the others being 0.
    @inline(__always) private func bits(_ index: Int) -> UInt64 {
        let width = self.width
        guard width > 0, index >= 0, index < count else { return 0 }
        let bit = index &* width
        let word = content.word(at: (bit >> 6) << 3).byteSwapped >> UInt64(bit & 63)
        return width == 64 ? word : word & (UInt64(1) << UInt64(width) &- 1)
    }
}
