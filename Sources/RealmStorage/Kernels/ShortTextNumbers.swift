// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The numbers of short texts that were numbered before: a table from the cells of a leaf of strings to numbers.
///
/// A text of up to 15 bytes is two words of a register, so it is found without reading it byte by byte. The caller chooses the
/// numbers of texts, and stores those that the table can hold.
package struct ShortTextNumbers: Sendable {
    /// Replaces the number of a text that the table does not know.
    package static let unknown = UInt32.max
    /// The number of texts that the table remembers. More would not stay in the caches of a processor, where
    /// looking them up is not faster than reading the texts.
    private static let capacity = 1 << 15
    /// The last byte of the key for null; for a text it is its length.
    private static let null: UInt64 = 0xff

    /// The texts in the slots, as `key(_:_:)` makes them; meaningless in free slots.
    private var keys: [SIMD2<UInt64>]
    /// The number of the text in each slot; `unknown` in free slots. Its length is a power of two, at least twice
    /// the number of texts.
    private var numbers: [UInt32]
    /// How many texts the table has.
    private var count = 0

    /// Makes an empty table.
    package init() {
        keys = [SIMD2](repeating: .zero, count: 64)
        numbers = [UInt32](repeating: ShortTextNumbers.unknown, count: 64)
    }

    /// Looks up the texts in some rows of a leaf of cells.
    ///
    /// It takes two to four nanoseconds for each row. A damaged cell, and a text of more than 15 bytes, is unknown.
    ///
    /// - Parameters:
    ///   - cells: The cells of the leaf, of `width` bytes each. The last byte of a cell is the number of unused bytes
    ///     before it, or `width` for null.
    ///   - width: The width of a cell: 4, 8, 16, 32 or 64 bytes.
    ///   - rows: The rows; there must be a cell for each.
    ///   - result: Receives the number of each row, or `unknown`, from its beginning; it has room for a mask.
    /// - Returns: Whether all texts are known.
    package func lookUp(_ cells: ByteView, width: Int, _ rows: Mask, into result: inout [UInt32]) -> Bool {
        precondition(result.count >= Mask.capacity, "too little room for the numbers of a leaf")
        guard let last = rows.last else { return true }
        precondition((last &+ 1) &* width <= cells.count, "too few cells for the rows of a leaf")
        switch width {
        case 4: return fill(rows, &result) { ShortTextNumbers.key(cells.narrowCell($0)) }
        case 8: return fill(rows, &result) { ShortTextNumbers.key(cells.word(ofCell: $0)) }
        case 16, 32, 64: return fill(rows, &result) { ShortTextNumbers.key(cells, at: $0 &* width, width) }
        default: return fill(rows, &result) { _ in nil }
        }
    }

    /// Remembers the number of the text in a cell, if it is short and the table is not full.
    ///
    /// - Parameters:
    ///   - cells: The cells of a leaf.
    ///   - row: The row of the text; there must be a cell for it.
    package mutating func remember(_ number: UInt32, of cells: ByteView, width: Int, row: Int) {
        precondition(row >= 0 && (row &+ 1) &* width <= cells.count, "no cell for the row")
        let key: SIMD2<UInt64>?
        switch width {
        case 4: key = ShortTextNumbers.key(cells.narrowCell(row))
        case 8: key = ShortTextNumbers.key(cells.word(ofCell: row))
        case 16, 32, 64: key = ShortTextNumbers.key(cells, at: row &* width, width)
        default: key = nil
        }
        guard let key, count < ShortTextNumbers.capacity else { return }
        insert(key, number)
    }

    // MARK: - The table

    /// Stores the numbers of the keys of rows, and returns whether all are known.
    @inline(__always)
    private func fill(_ rows: Mask, _ result: inout [UInt32], _ key: (Int) -> SIMD2<UInt64>?) -> Bool {
        var isComplete = true
        var place = 0
        rows.forEach { row in
            let number = key(row).map { numbers[slot(of: $0)] } ?? ShortTextNumbers.unknown
            result[place] = number
            if number == ShortTextNumbers.unknown { isComplete = false }
            place &+= 1
        }
        return isComplete
    }

    /// Returns the slot that has a key, or the free one where it belongs.
    @inline(__always)
    private func slot(of key: SIMD2<UInt64>) -> Int {
        let mask = numbers.count &- 1
        let first = IntegerNumbering.mixed(Int64(bitPattern: key.x))
        var slot = Int(truncatingIfNeeded: IntegerNumbering.mixed(Int64(bitPattern: key.y), after: first)) & mask
        while numbers[slot] != ShortTextNumbers.unknown, keys[slot] != key { slot = (slot &+ 1) & mask }
        return slot
    }

    /// Inserts a key, and makes the table larger when half of it is used.
    private mutating func insert(_ key: SIMD2<UInt64>, _ number: UInt32) {
        let slot = slot(of: key)
        if numbers[slot] == ShortTextNumbers.unknown { count += 1 }
        keys[slot] = key
        numbers[slot] = number
        guard count * 2 > numbers.count else { return }
        let old = zip(keys, numbers).filter { $0.1 != ShortTextNumbers.unknown }
        keys = [SIMD2](repeating: .zero, count: numbers.count * 4)
        numbers = [UInt32](repeating: ShortTextNumbers.unknown, count: keys.count)
        for (key, number) in old {
            let slot = self.slot(of: key)
            keys[slot] = key
            numbers[slot] = number
        }
    }

    // MARK: - Keys

    /// Returns the key of a cell of four bytes; nil for a damaged one.
    @inline(__always)
    private static func key(_ cell: UInt32) -> SIMD2<UInt64>? {
        key(UInt64(cell & 0x00ff_ffff), 0, padding: UInt64(cell &>> 24), width: 4)
    }

    /// Returns the key of a cell of eight bytes; nil for a damaged one.
    @inline(__always)
    private static func key(_ cell: UInt64) -> SIMD2<UInt64>? {
        key(cell & 0x00ff_ffff_ffff_ffff, 0, padding: cell &>> 56, width: 8)
    }

    /// Returns the key of a cell of at least 16 bytes; nil for a damaged one and for a text that is too long.
    @inline(__always)
    private static func key(_ cells: ByteView, at offset: Int, _ width: Int) -> SIMD2<UInt64>? {
        let (low, high) = cells.words(at: offset)
        return key(low, high, padding: UInt64(cells[offset &+ width &- 1]), width: UInt64(width))
    }

    /// Returns the key of a text: its bytes, with zeros in the place of missing ones, and its length in the last byte.
    @inline(__always)
    private static func key(_ low: UInt64, _ high: UInt64, padding: UInt64, width: UInt64) -> SIMD2<UInt64>? {
        guard padding < width else { return padding == width ? SIMD2(0, null &<< 56) : nil }
        let length = width &- 1 &- padding
        guard length <= 15 else { return nil }
        // A shift by 64 or more yields 0, which leaves no byte of the word.
        let kept = SIMD2(
            low & ~(UInt64.max << (length &* 8)), length <= 8 ? 0 : high & ~(UInt64.max << ((length &- 8) &* 8)))
        return SIMD2(kept.x, kept.y | length &<< 56)
    }
}

extension ByteView {
    /// Returns the four bytes of a cell of that width, the first byte lowest. There must be such a cell.
    @inline(__always)
    fileprivate func narrowCell(_ row: Int) -> UInt32 {
        assert(row &* 4 &+ 4 <= count)
        return unsafe UInt32(
            littleEndian: UnsafeRawPointer(start.unsafelyUnwrapped).loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
    }

    /// Returns the eight bytes of a cell of that width, the first byte lowest. There must be such a cell.
    @inline(__always)
    fileprivate func word(ofCell row: Int) -> UInt64 {
        assert(row &* 8 &+ 8 <= count)
        return unsafe UInt64(
            littleEndian: UnsafeRawPointer(start.unsafelyUnwrapped).loadUnaligned(fromByteOffset: row &* 8, as: UInt64.self))
    }

    /// Returns sixteen bytes from an offset on, in two words whose first byte is the lowest. There must be so many.
    @inline(__always)
    fileprivate func words(at offset: Int) -> (UInt64, UInt64) {
        assert(offset &+ 16 <= count)
        let bytes = unsafe UnsafeRawPointer(start.unsafelyUnwrapped)
        return unsafe (
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
        )
    }
}
