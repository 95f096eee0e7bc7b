// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The cells of a short string leaf of at least 8 bytes each, read as words.
///
/// Equality compares whole words, and ordering compares the first word in big-endian order, so most
/// rows are decided without a loop over bytes.
struct WordCells {
    /// The node of the short string leaf.
    private let node: Node
    /// The size of a cell in bytes.
    private let width: Int
    /// The bits of the first word that belong to the text: in cells of eight bytes not the last
    /// byte, which counts the padding.
    private let ones: UInt64

    /// Views the cells of a short leaf; nil for cells of fewer than 8 bytes.
    init?(_ node: Node) {
        guard node.width >= 8 else { return nil }
        self.node = node
        width = node.width
        ones = node.width == 8 ? ~0xff : .max
    }

    /// Returns the words of the cell that holds `bytes`, which must be fewer than `width`.
    static func padded(_ bytes: [UInt8], width: Int) -> [UInt64] {
        let cell = bytes + Array(repeating: 0, count: width - 1 - bytes.count) + [UInt8(width - 1 - bytes.count)]
        return stride(from: 0, to: width, by: 8).map { first in
            (0..<8).reduce(0) { $0 | UInt64(cell[first + $1]) << UInt64($1 * 8) }
        }
    }

    /// Returns whether the cell in `row` has exactly these words.
    func equals(_ wanted: [UInt64], _ row: Int) -> Bool {
        for word in 0..<wanted.count where wanted[word] != self.word(row, word) { return false }
        return true
    }

    /// Returns whether the cell in `row` is that of null.
    @inline(__always)
    func isNull(_ row: Int) -> Bool { StringLeaf.padding(node, row) == width }

    /// Returns the first eight bytes of the text in `row` as a big-endian number, so that numbers
    /// sort as the texts do.
    @inline(__always)
    func leadingBytes(_ row: Int) -> UInt64 { word(row, 0).byteSwapped & ones }

    /// Reads word `index` of the cell in `row`.
    @inline(__always)
    private func word(_ row: Int, _ index: Int) -> UInt64 {
        node.load(byteOffset: row &* width &+ index &* 8, as: UInt64.self)
    }
}
