// SPDX-License-Identifier: Apache-2.0

/// Cells of equal width: text, zeros, and a last byte that counts the zeros, or is the width for null.
///
/// A cell has 1, 2, 4, 8 or 16 bytes, so texts of up to 15 bytes fit. A text that needs more makes all cells of the leaf wider.
/// Source: docs/format.md, "Short strings".
enum ShortStrings {
    /// Puts a string where `removed` others were, in wider cells if it needs them.
    static func replace(
        in node: inout MutableNode, at row: Int, removing removed: Int, with bytes: ByteView?, _ writes: WriteSpace
    ) throws(StorageError) {
        if let bytes, bytes.count >= node.width { try widen(&node, toHold: bytes.count, writes) }
        try node.replaceElements(at: row, removing: removed, inserting: 1)
        store(bytes, in: node, row)
    }

    /// Stores a text with its padding.
    private static func store(_ bytes: ByteView?, in node: MutableNode, _ row: Int) {
        let width = node.width
        guard width > 0 else { return }
        if let bytes { node.store(bytes, atByte: row * width) }
        let padding = bytes.map { width - 1 - $0.count } ?? width
        node.store(UInt8(truncatingIfNeeded: padding), atByte: (row + 1) * width - 1)
    }

    /// Moves all texts to wider cells.
    private static func widen(_ node: inout MutableNode, toHold length: Int, _ writes: WriteSpace) throws(StorageError) {
        // The width is the least power of two above the length.
        let code = Int.bitWidth - length.leadingZeroBitCount + 1
        let old = node.node
        let strings = try StringLeaf(old, writes.space)
        let wide = try writes.makeNode(.elements, widthCode: code, count: strings.count)
        for row in 0..<strings.count { store(try strings.string(row), in: wide, row) }
        writes.discard(old)
        node = wide
    }
}
