// SPDX-License-Identifier: Apache-2.0

/// The cells of a short leaf of at least 8 bytes each, as words.
///
/// Equality compares whole words, and orders compare the first word with its bytes turned round, so most rows are decided without
/// a loop over bytes.
struct WordCells {
    /// The node with the cells.
    private let node: Node
    /// The size of a cell in bytes.
    private let width: Int
    /// What belongs to the text of the first word: not the padding count, which is its last byte in cells of eight.
    private let ones: UInt64

    /// The cells of a short leaf; nil for cells of fewer than 8 bytes.
    init?(_ node: Node) {
        guard node.width >= 8 else { return nil }
        self.node = node
        width = node.width
        ones = node.width == 8 ? ~0xff : .max
    }

    /// The cell that holds `bytes`, which are fewer than `width`.
    static func padded(_ bytes: [UInt8], width: Int) -> [UInt64] {
        let cell = bytes + Array(repeating: 0, count: width - 1 - bytes.count) + [UInt8(width - 1 - bytes.count)]
        return stride(from: 0, to: width, by: 8).map { first in
            (0..<8).reduce(0) { $0 | UInt64(cell[first + $1]) << UInt64($1 * 8) }
        }
    }

    /// Whether the cell in `row` has exactly these words.
    func equals(_ wanted: [UInt64], _ row: Int) -> Bool {
        for word in 0..<wanted.count where wanted[word] != self.word(row, word) { return false }
        return true
    }

    /// Whether the cell in `row` is that of null.
    @inline(__always)
    func isNull(_ row: Int) -> Bool { StringLeaf.padding(node, row) == width }

    /// The first eight bytes as a number that sorts like them.
    @inline(__always)
    func leadingBytes(_ row: Int) -> UInt64 { word(row, 0).byteSwapped & ones }

    /// Eight bytes of a cell.
    @inline(__always)
    private func word(_ row: Int, _ index: Int) -> UInt64 {
        node.load(byteOffset: row &* width &+ index &* 8, as: UInt64.self)
    }
}
