// SPDX-License-Identifier: Apache-2.0

/// Tests of a whole leaf of strings at once. For `from` see `IntLeaf`.
///
/// Short and medium leaves have all texts in one run of bytes, which is searched as a whole; where the bytes found
/// belong to no single text (padding, two neighbours), they do not count. `among` names the rows that matter: the
/// answer has no others, and where texts are read one by one the others are left alone.
extension StringLeaf {
    /// Up to this many rows are read one by one rather than searched together.
    private static let fewRows = 12

    /// The rows that a mask from row `from` covers.
    @inline(__always)
    package func rowCount(from row: Int) -> Int { min(max(count &- row, 0), Mask.capacity) }

    /// The rows that hold null.
    package func nulls(from row: Int = 0) throws(StorageError) -> Mask {
        let rows = Mask(first: rowCount(from: row))
        switch form {
        case .short(let node):
            guard node.width > 0 else { return rows }
            return rows.filter { StringLeaf.padding(node, row &+ $0) == node.width }
        case .blob(let blob) where blob.isMedium:
            return blob.nulls.compare(.notEqual, 0, start: row, count: rowCount(from: row))
        case .blob, .enumerated:
            return try rows.filter { (index) throws(StorageError) in try string(row &+ index) == nil }
        }
    }

    /// The rows whose text is the pattern.
    package func isEqual(
        to pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        switch form {
        case .short(let node):
            guard pattern.count < node.width else { return .none }
            if let cells = WordCells(node), let bytes = pattern.exactBytes {
                let wanted = WordCells.padded(bytes, width: node.width)
                return rows.filter { cells.equals(wanted, row &+ $0) }
            }
        case .blob(let blob) where blob.isMedium:
            let candidates = rows & StringLeaf.lengths(blob, pattern.count, row, rowCount(from: row))
            return try texts(among: candidates, row, pattern.equals)
        case .blob, .enumerated: break
        }
        return try texts(among: rows, row, pattern.equals)
    }

    /// The rows whose text begins with the pattern.
    package func hasPrefix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask { try texts(among: rows, row, pattern.isPrefix) }

    /// The rows whose text ends with the pattern.
    package func hasSuffix(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask { try texts(among: rows, row, pattern.isSuffix) }

    /// The rows in whose text the pattern stands.
    package func contains(
        _ pattern: BytePattern, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        guard !pattern.isEmpty else { return rows.subtracting(try nulls(from: row)) }
        guard rows.count > StringLeaf.fewRows else { return try texts(among: rows, row, pattern.occurs) }
        switch form {
        case .short(let node): return rows & (try StringLeaf.search(node, pattern, row, rowCount(from: row)))
        case .blob(let blob) where blob.isMedium:
            return rows & (try StringLeaf.search(blob, pattern, row, rowCount(from: row)))
        case .blob, .enumerated: return try texts(among: rows, row, pattern.occurs)
        }
    }

    /// The rows among `rows` that hold a text for which `test` is true.
    @inline(__always)
    private func texts(
        among rows: Mask, _ row: Int, _ test: (ByteView) -> Bool
    ) throws(StorageError) -> Mask {
        try rows.filter { (index) throws(StorageError) in try string(row &+ index).map(test) ?? false }
    }

    /// The rows of a medium leaf whose text has so many bytes, or is null.
    private static func lengths(_ blob: BlobLeaf, _ byteCount: Int, _ row: Int, _ count: Int) -> Mask {
        guard count > 0 else { return .none }
        var previous = row == 0 ? 0 : blob.ends[row &- 1]
        return blob.ends.withUnpacked(start: row, count: count) { ends in
            var rows = AscendingRows()
            for index in 0..<count {
                if ends[index] &- previous == Int64(byteCount &+ 1) { rows.insert(index) }
                previous = ends[index]
            }
            return rows.mask
        }
    }

    @inline(__always)
    static func padding(_ node: Node, _ row: Int) -> Int {
        Int(node.load(byteOffset: (row &+ 1) &* node.width &- 1, as: UInt8.self))
    }
}

// MARK: - Searching all texts at once

extension StringLeaf {
    private static func search(
        _ node: Node, _ pattern: BytePattern, _ row: Int, _ count: Int
    ) throws(StorageError) -> Mask {
        let width = node.width
        guard pattern.count < width else { return .none }
        var found = AscendingRows()
        let cells = node.bytes.slice(row &* width, (row &+ count) &* width)
        try pattern.forEachMatch(in: cells) { (position) throws(StorageError) in
            let index = position &>> width.trailingZeroBitCount
            let padding = padding(node, row &+ index)
            guard padding <= width else {
                throw node.corrupt("string \(row &+ index) has \(padding) bytes of padding in \(width)")
            }
            let next = (index &+ 1) &* width
            if position &+ pattern.count < next &- padding { found.insert(index) }
            return next
        }
        return found.mask
    }

    private static func search(
        _ blob: BlobLeaf, _ pattern: BytePattern, _ row: Int, _ count: Int
    ) throws(StorageError) -> Mask {
        guard count > 0 else { return .none }
        let first = row == 0 ? 0 : Int(clamping: blob.ends[row &- 1])
        let texts = blob.bytes.slice(first, Int(clamping: blob.ends[row &+ count &- 1]))
        return try blob.ends.withUnpacked(start: row, count: count) { (ends) throws(StorageError) in
            var found = AscendingRows()
            var index = 0
            try pattern.forEachMatch(in: texts) { (position) throws(StorageError) in
                while index < count, ends[index] &- Int64(first) <= Int64(position) { index &+= 1 }
                guard index < count else { return .max }
                let end = Int(clamping: ends[index] &- Int64(first))
                guard end <= texts.count, texts[end &- 1] == 0 else { throw blob.corruptText(row &+ index) }
                // A match has to end in front of the text's zero byte; null and empty texts have no room for one.
                if position &+ pattern.count < end { found.insert(index) }
                return end
            }
            return found.mask
        }
    }
}

// MARK: - Order

extension StringLeaf {
    /// A key by the first bytes of a text: where two are equal, the texts decide.
    package func orderKey(_ row: Int) throws(StorageError) -> OrderKey {
        try string(row).map { OrderKey(prefixOf: $0) } ?? .null
    }

    /// The rows among `rows` whose key compares so with `key`; `op` is one of the four that order.
    ///
    /// As equal keys do not mean equal texts, a search for the first rows asks for `lessOrEqual`.
    package func rows(
        _ op: Relation, _ key: OrderKey, among rows: Mask, from row: Int = 0
    ) throws(StorageError) -> Mask {
        if case .short(let node) = form, node.width == 16, let cells = WordCells(node), !key.isNull {
            return rows.filter { op.holds(cells.orderKey(row &+ $0), key) }
        }
        return try rows.filter { (index) throws(StorageError) in op.holds(try orderKey(row &+ index), key) }
    }
}

/// The cells of a short leaf of at least 8 bytes each, as words.
private struct WordCells {
    private let node: Node
    private let width: Int

    init?(_ node: Node) {
        guard node.width >= 8 else { return nil }
        self.node = node
        width = node.width
    }

    /// The cell that holds `bytes`, which are fewer than `width`.
    static func padded(_ bytes: [UInt8], width: Int) -> [UInt64] {
        let cell = bytes + Array(repeating: 0, count: width - 1 - bytes.count) + [UInt8(width - 1 - bytes.count)]
        return stride(from: 0, to: width, by: 8).map { first in
            (0..<8).reduce(0) { $0 | UInt64(cell[first + $1]) << UInt64($1 * 8) }
        }
    }

    func equals(_ wanted: [UInt64], _ row: Int) -> Bool {
        for word in 0..<wanted.count where wanted[word] != self.word(row, word) { return false }
        return true
    }

    /// For cells of 16 bytes: 15 of text, and the padding, which is 16 for null.
    func orderKey(_ row: Int) -> OrderKey {
        let low = word(row, 1)
        guard low >> 56 != 16 else { return .null }
        let text = UInt128(word(row, 0).byteSwapped) << 64 | UInt128(low.byteSwapped)
        return OrderKey(rawValue: 1 << 120 | text >> 8)
    }

    @inline(__always)
    private func word(_ row: Int, _ index: Int) -> UInt64 {
        node.load(byteOffset: row &* width &+ index &* 8, as: UInt64.self)
    }
}
