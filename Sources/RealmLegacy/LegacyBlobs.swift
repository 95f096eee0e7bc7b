// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A leaf of strings or binaries in one of its forms, which the leaf itself states.
///
/// | has-refs | context | form |
/// |---|---|---|
/// | no | | short: cells of equal width, the last byte counts the padding; strings only |
/// | yes | no | medium: end offsets, bytes and mostly null flags |
/// | yes | yes | big: a ref for each value |
///
/// In medium leaves of strings the flag is 1 for a value and 0 for null, the opposite of binaries and of today's files.
struct LegacyBlobs {
    /// The forms with their parts.
    private enum Form {
        /// Cells in one node, of some bytes each.
        case short(ByteView, width: Int)
        case medium(ends: PackedIntegers, bytes: ByteView, flags: PackedIntegers?)
        /// A ref for each value.
        case big
    }

    /// The leaf.
    private let node: Node
    private let form: Form
    /// Whether values end with a zero byte.
    private let isText: Bool
    /// The pass that reads.
    private let reading: LegacyReading
    let count: Int

    /// Attaches a leaf.
    ///
    /// - Throws: `.corrupt` for another shape, or for parts of different lengths.
    init(_ node: Node, isText: Bool, _ reading: LegacyReading) throws(StorageError) {
        self.node = node
        self.isText = isText
        self.reading = reading
        guard node.hasRefs else {
            guard isText, node.widthType == Node.WidthType.multiply.rawValue else {
                throw node.corrupt("a leaf of values expected")
            }
            form = .short(node.bytes, width: node.width)
            count = node.count
            return
        }
        guard !node.isInner else { throw node.corrupt("a leaf of values expected") }
        form = node.hasContext ? .big : try LegacyBlobs.medium(node, reading)
        if case .medium(let ends, _, _) = form { count = ends.count } else { count = node.count }
    }

    /// Attaches the parts of a medium leaf.
    private static func medium(_ node: Node, _ reading: LegacyReading) throws(StorageError) -> Form {
        guard node.count == 2 || node.count == 3 else { throw node.corrupt("a medium leaf of \(node.count) slots") }
        let ends = try reading.integers(at: try node.requiredRef(0, "end offsets"))
        let blob = try reading.node(at: try node.requiredRef(1, "bytes of values"))
        guard isBytes(blob) else { throw blob.corrupt("byte node expected") }
        let flags = node.count == 3 ? try reading.integers(at: try node.requiredRef(2, "null flags")) : nil
        guard ends.count <= LegacyReading.maximumLeafCount else {
            throw node.corrupt("a leaf that claims \(ends.count) elements")
        }
        guard flags == nil || flags?.count == ends.count else {
            throw node.corrupt("\(flags?.count ?? 0) null flags for \(ends.count) values")
        }
        return .medium(ends: ends, bytes: blob.bytes, flags: flags)
    }

    /// Whether a node is one of plain bytes.
    private static func isBytes(_ node: Node) -> Bool { !node.hasRefs && node.widthType == Node.WidthType.ignore.rawValue }

    /// Returns the bytes of a value without its terminator; nil for null.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the bytes are not where the leaf says.
    func bytes(_ row: Int) throws(StorageError) -> ByteView? {
        switch form {
        case .short(let cells, let width): return try short(cells, width, row)
        case .medium(let ends, let bytes, let flags): return try medium(ends, bytes, flags, row: row)
        case .big:
            let ref = try node.optionalRef(row, "value")
            return ref.isNone ? nil : try big(ref)
        }
    }

    /// Reads a cell of the short form.
    private func short(_ cells: ByteView, _ width: Int, _ row: Int) throws(StorageError) -> ByteView? {
        guard width > 0 else { return nil }
        let padding = Int(cells[(row + 1) * width - 1])
        if padding == width { return nil }
        guard padding < width else { throw node.corrupt("string \(row) has \(padding) bytes of padding in \(width)") }
        return cells.slice(row * width, (row + 1) * width - 1 - padding)
    }

    /// Reads a value of the medium form.
    private func medium(
        _ ends: PackedIntegers, _ bytes: ByteView, _ flags: PackedIntegers?, row: Int
    ) throws(StorageError) -> ByteView? {
        let first = row == 0 ? 0 : ends[row - 1]
        let end = ends[row]
        guard first >= 0, first <= end, end <= Int64(bytes.count) else {
            throw node.corrupt("value \(row) ends outside its bytes")
        }
        if let flags, (flags[row] == 0) == isText { return nil }
        return try withoutTerminator(bytes.slice(Int(first), Int(end)), node)
    }

    /// Reads a value of the big form, and joins its parts where it is split.
    private func big(_ ref: Ref) throws(StorageError) -> ByteView {
        // A pass that counts what it reads finds out that values share their parts.
        if reading.budget == nil, let known = reading.keeper.value(at: ref) { return known }
        let value = try reading.node(at: ref)
        guard value.hasRefs else {
            guard LegacyBlobs.isBytes(value) else { throw value.corrupt("byte node expected") }
            return try withoutTerminator(value.bytes, value)
        }
        guard !value.isInner else { throw value.corrupt("a split value is a leaf of byte nodes") }
        var joined: [UInt8] = []
        for index in 0..<value.count {
            let part = try reading.node(at: try value.requiredRef(index, "part of a split value"))
            guard LegacyBlobs.isBytes(part) else { throw part.corrupt("byte node expected") }
            try reading.keeper.spend(partOf: part.bytes.count)
            guard UInt64(joined.count + part.bytes.count) <= reading.space.limit else {
                throw value.corrupt("a split value holds more bytes than the file")
            }
            joined += part.bytes.array
        }
        return try reading.keeper.keep(joined, at: ref)
    }

    /// Returns a text without its final zero byte; binaries have none.
    private func withoutTerminator(_ bytes: ByteView, _ node: Node) throws(StorageError) -> ByteView {
        guard isText else { return bytes }
        guard bytes.count > 0, bytes[bytes.count - 1] == 0 else { throw node.corrupt("a string without a final zero byte") }
        return bytes.slice(0, bytes.count - 1)
    }
}
