// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes the short form of a leaf of strings: cells of equal width that hold text, zeros, and a
/// last byte that counts the zeros, or is the width for null.
///
/// A cell has 1, 2, 4, 8 or 16 bytes, so texts of up to 15 bytes fit. A text that needs more makes all cells of the leaf wider.
/// Source: docs/format.md, "Short strings".
enum ShortStrings {
    /// Replaces a number of strings by one, in wider cells if it needs them.
    ///
    /// - Parameters:
    ///   - node: The leaf, which may be replaced by a wider one.
    ///   - row: The first row that is replaced.
    ///   - removed: How many strings are removed there: 0 to insert, 1 to replace.
    ///   - bytes: The string; nil is null.
    ///   - writes: The nodes of the transaction.
    static func replace(
        in node: inout MutableNode, at row: Int, removing removed: Int, with bytes: ByteView?, _ writes: WriteSpace
    ) throws(StorageError) {
        if let bytes, bytes.count >= node.width { try widen(&node, toHold: bytes.count, writes) }
        try node.replaceElements(at: row, removing: removed, inserting: 1)
        store(bytes, in: node, row)
    }

    /// Adds strings at the end, in wider cells if one of them needs these.
    ///
    /// - Parameters:
    ///   - strings: The strings; nil is null.
    ///   - node: The leaf, which may be replaced by a wider one.
    ///   - writes: The nodes of the transaction.
    static func append(
        _ strings: [ByteView?], longest: Int, to node: inout MutableNode, _ writes: WriteSpace
    ) throws(StorageError) {
        if longest >= node.width, strings.contains(where: { $0 != nil }) { try widen(&node, toHold: longest, writes) }
        let count = node.count
        try node.replaceElements(at: count, removing: 0, inserting: strings.count)
        for index in strings.indices { store(strings[index], in: node, count + index) }
    }

    /// Stores a text and its padding count in a cell. A cell of width 0 can only be null and stores nothing.
    private static func store(_ bytes: ByteView?, in node: MutableNode, _ row: Int) {
        let width = node.width
        guard width > 0 else { return }
        if let bytes { node.store(bytes, atByte: row * width) }
        let padding = bytes.map { width - 1 - $0.count } ?? width
        node.store(UInt8(truncatingIfNeeded: padding), atByte: (row + 1) * width - 1)
    }

    /// Moves all texts to cells that can hold `length` bytes of text; the old node is discarded.
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
