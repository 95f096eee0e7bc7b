// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A text as the cells of short leaves hold it, in which it is looked for by comparing numbers.
package struct CellText: Sendable {
    /// The text, in memory of its owner.
    private let text: ByteView
    /// The first eight bytes of the text, and the next eight; the first byte is the lowest, missing ones are 0.
    private let words: (UInt64, UInt64)

    /// Prepares a text, whose bytes the caller keeps.
    package init(_ text: ByteView) {
        self.text = text
        words = (text.word(at: 0).byteSwapped, text.word(at: 8).byteSwapped)
    }

    /// Returns the first row of a leaf in the short form that has the text; nil when none has it.
    @inline(__always)
    func row(in leaf: Node) -> Int? {
        guard text.count < leaf.width else { return nil }
        for row in 0..<leaf.count where isText(row, of: leaf) { return row }
        return nil
    }

    /// Whether a row of a leaf in the short form, which must be in it, has the text.
    @inline(__always)
    func isText(_ row: Int, of leaf: Node) -> Bool {
        let width = leaf.width
        guard text.count < width else { return false }
        let padding = UInt64(truncatingIfNeeded: width &- 1 &- text.count)
        switch width {
        case 4: return leaf.load(byteOffset: row &* 4, as: UInt32.self) == UInt32(truncatingIfNeeded: words.0 | padding &<< 24)
        case 8: return leaf.load(byteOffset: row &* 8, as: UInt64.self) == words.0 | padding &<< 56
        case 16:
            return leaf.load(byteOffset: row &* 16, as: UInt64.self) == words.0
                && leaf.load(byteOffset: row &* 16 &+ 8, as: UInt64.self) == words.1 | padding &<< 56
        default:
            return StringLeaf.padding(leaf, row) == Int(padding)
                && leaf.bytes(at: row &* width, byteCount: text.count) == text
        }
    }

    /// Returns which rows of a leaf in the short form have the text, for cells of 4, 8 and 16 bytes; nil for others.
    ///
    /// - Parameters:
    ///   - leaf: The leaf, whose cells have room for the text.
    ///   - row: The row that becomes bit 0 of the mask.
    ///   - count: How many rows are tested, at most 256; all of them must exist.
    func rows(of leaf: Node, from row: Int, count: Int) -> Mask? {
        precondition(row >= 0 && count >= 0 && row <= leaf.count - count, "rows outside their leaf")
        let padding = UInt64(truncatingIfNeeded: leaf.width &- 1 &- text.count)
        switch leaf.width {
        case 4:
            let cell = Int32(truncatingIfNeeded: words.0 | padding &<< 24)
            return unsafe EqualKernel(cell).mask(leaf.payload, start: row, count: count)
        case 8:
            let cell = Int64(truncatingIfNeeded: words.0 | padding &<< 56)
            return unsafe EqualKernel(cell).mask(leaf.payload, start: row, count: count)
        case 16: return unsafe CellKernel((words.0, words.1 | padding &<< 56)).mask(leaf.payload, start: row, count: count)
        default: return nil
        }
    }
}
