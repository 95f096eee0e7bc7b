// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of strings in one of four forms, distinguished by the header of the leaf itself.
///
/// | has-refs | width type | form |
/// |---|---|---|
/// | no | multiply | short: cells of equal width, the last byte counts the padding |
/// | yes | bits | medium or big, see `MediumBlobs`, `BigBlobs` |
/// | no | bits | enumerated: indexes into the column's list of distinct strings |
///
/// Source: docs/format.md, "String".
package struct StringLeaf: Sendable {
    /// The form of a leaf with its attached parts.
    @safe package enum Form: Sendable {
        /// The short form: cells of equal width in one node.
        case short(Node)
        /// All texts in one byte node, with their end offsets.
        case medium(MediumBlobs)
        /// The big form: a byte node for each text.
        case big(BigBlobs)
        /// Indexes into the list of distinct texts of the column, which its `Column` keeps alive.
        case enumerated(PackedIntegers, Unmanaged<StringEnumeration>)
    }

    /// The form, as the header of the leaf states it.
    package let form: Form

    /// Attaches a leaf of strings in the form that its header states.
    ///
    /// - Parameters:
    ///   - node: The root of the leaf.
    ///   - space: The space that refs in the leaf point into.
    ///   - enumeration: The column's list of distinct strings. It is not retained: its table keeps
    ///     it alive longer than the leaf.
    /// - Throws: `.corrupt` for another shape, or for indexes in a column without a list.
    init(_ node: Node, _ space: NodeSpace, enumeration: StringEnumeration? = nil) throws(StorageError) {
        if node.hasRefs {
            switch try BlobLeaf(node, space, isText: true) {
            case .medium(let blobs): form = .medium(blobs)
            case .big(let blobs): form = .big(blobs)
            }
        } else if node.widthType == Node.WidthType.multiply.rawValue {
            form = .short(node)
        } else {
            guard let enumeration else { throw StringLeaf.listMissing(node) }
            form = unsafe .enumerated(try node.integers(), Unmanaged.passUnretained(enumeration))
        }
    }

    /// How many strings the leaf has, nulls included.
    package var count: Int {
        switch form {
        case .short(let node): return node.count
        case .medium(let blobs): return blobs.count
        case .big(let blobs): return blobs.count
        case .enumerated(let indexes, _): return indexes.count
        }
    }

    /// The indexes into the column's list of distinct strings; nil for a leaf in another form.
    package var enumeratedIndexes: PackedIntegers? {
        if case .enumerated(let indexes, _) = form { return indexes }
        return nil
    }

    /// The cells of a leaf in the short form, and their width in bytes; nil for a leaf in another form.
    ///
    /// The last byte of a cell is the number of unused bytes before it, or the width for null.
    package var cells: (bytes: ByteView, width: Int)? {
        guard case .short(let node) = form else { return nil }
        return (node.bytes, node.width)
    }

    /// Whether single strings may be megabytes long, which is so in big leaves only.
    package var hasLongStrings: Bool {
        if case .big = form { return true }
        return false
    }

    /// Returns the bytes of string `row`, or nil for null. The view borrows from the snapshot or transaction.
    ///
    /// - Parameter row: A row in `0..<count`.
    /// - Throws: `.corrupt` when the text is damaged.
    package func string(_ row: Int) throws(StorageError) -> ByteView? {
        switch form {
        case .short(let node): return try StringLeaf.short(node, row)
        case .medium(let blobs): return try blobs.bytes(row)
        case .big(let blobs): return try blobs.bytes(row)
        case .enumerated(let indexes, let enumeration):
            return try unsafe enumeration.takeUnretainedValue().string(at: indexes[row])
        }
    }

    /// Reads a text in a cell; throws `.corrupt` for more padding than the cell has bytes.
    @inline(__always) private static func short(_ node: Node, _ row: Int) throws(StorageError) -> ByteView? {
        let width = node.width
        guard width > 0 else { return nil }
        let padding = Int(node.load(byteOffset: (row + 1) * width - 1, as: UInt8.self))
        if padding == width { return nil }
        guard padding < width else { throw node.corrupt("string \(row) has \(padding) bytes of padding in \(width)") }
        return node.bytes(at: row * width, byteCount: width - 1 - padding)
    }

    /// Returns whether a leaf of strings has the short form, whose number of strings is that of its elements.
    static func isShort(_ node: Node) -> Bool { !node.hasRefs && node.widthType == Node.WidthType.multiply.rawValue }

    /// Returns the first row of a leaf in the short form that has a text; nil when none has it. Throws `.corrupt` for more padding than a
    /// cell has bytes.
    static func row(of wanted: ByteView, inShort node: Node) throws(StorageError) -> Int? {
        for row in 0..<node.count where try short(node, row) == wanted { return row }
        return nil
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    package func value(_ row: Int) throws(StorageError) -> Value { try string(row).map(Value.string) ?? .null }

    /// Makes the error for a leaf of indexes in a column that has no list of distinct strings.
    static func listMissing(_ node: Node) -> StorageError {
        node.corrupt("enumerated strings in a column without their list")
    }
}
