// SPDX-License-Identifier: Apache-2.0

/// Strings in one of four forms, told apart by the header of the leaf itself.
///
/// | has-refs | width type | form |
/// |---|---|---|
/// | no | multiply | short: cells of equal width, the last byte counts the padding |
/// | yes | bits | medium or big, see `MediumBlobs`, `BigBlobs` |
/// | no | bits | enumerated: indexes into the column's list of distinct strings |
///
/// Source: docs/format.md, "String".
package struct StringLeaf: Sendable {
    @safe enum Form: Sendable {
        case short(Node)
        case medium(MediumBlobs)
        case big(BigBlobs)
        case enumerated(PackedIntegers, Unmanaged<StringEnumeration>)
    }

    let form: Form

    /// `enumeration` is the column's list of distinct strings; it outlives the leaf with its table.
    init(_ node: Node, _ space: NodeSpace, enumeration: StringEnumeration? = nil) throws(StorageError) {
        if node.hasRefs {
            switch try BlobLeaf(node, space, isText: true) {
            case .medium(let blobs): form = .medium(blobs)
            case .big(let blobs): form = .big(blobs)
            }
        } else if node.widthType == Node.WidthType.multiply.rawValue {
            form = .short(node)
        } else {
            guard let enumeration else { throw node.corrupt("enumerated strings in a column without their list") }
            form = unsafe .enumerated(try node.integers(), Unmanaged.passUnretained(enumeration))
        }
    }

    /// The number of strings.
    package var count: Int {
        switch form {
        case .short(let node): return node.count
        case .medium(let blobs): return blobs.count
        case .big(let blobs): return blobs.count
        case .enumerated(let indexes, _): return indexes.count
        }
    }

    /// May single strings be megabytes long?
    package var hasLongStrings: Bool {
        if case .big = form { return true }
        return false
    }

    /// The bytes of string `row`, or nil for null.
    package func string(_ row: Int) throws(StorageError) -> ByteView? {
        switch form {
        case .short(let node): return try StringLeaf.short(node, row)
        case .medium(let blobs): return try blobs.bytes(row)
        case .big(let blobs): return try blobs.bytes(row)
        case .enumerated(let indexes, let enumeration):
            return try unsafe enumeration.takeUnretainedValue().string(at: indexes[row])
        }
    }

    @inline(__always) private static func short(_ node: Node, _ row: Int) throws(StorageError) -> ByteView? {
        let width = node.width
        guard width > 0 else { return nil }
        let padding = Int(node.load(byteOffset: (row + 1) * width - 1, as: UInt8.self))
        if padding == width { return nil }
        guard padding < width else { throw node.corrupt("string \(row) has \(padding) bytes of padding in \(width)") }
        return node.bytes(at: row * width, byteCount: width - 1 - padding)
    }

    package func value(_ row: Int) throws(StorageError) -> Value { try string(row).map(Value.string) ?? .null }

    /// Cells of the short form: `(bytes, width)`, for searches over the whole leaf. Nil for other forms.
    package var shortCells: (bytes: ByteView, width: Int)? {
        if case .short(let node) = form { return (node.bytes, node.width) }
        return nil
    }
}

/// The distinct strings of an enumerated column: a string leaf, or a B+ tree of them.
package final class StringEnumeration: Sendable {
    private let space: NodeSpace
    package let root: Ref

    init(root: Ref, space: NodeSpace) {
        self.root = root
        self.space = space
    }

    /// The string that a leaf's index stands for.
    func string(at index: Int64) throws(StorageError) -> ByteView? {
        let tree = try BPlusTree(root: root, space: space, shape: ElementShape(type: .string, isNullable: true))
        guard index >= 0, index < tree.count else {
            throw .corrupt(ref: root, reason: "index \(index) into \(tree.count) enumerated strings")
        }
        let place = try tree.place(of: Int(index))
        guard case .string(let strings) = place.leaf else {
            throw .corrupt(ref: root, reason: "a list of distinct strings holds something else")
        }
        return try strings.string(place.row)
    }
}

/// Binaries: medium or big form, without terminators.
package struct BinaryLeaf: Sendable {
    private let blob: BlobLeaf
    package var count: Int { blob.count }

    /// The parts of the medium form; nil for the big one.
    var medium: MediumBlobs? {
        if case .medium(let blobs) = blob { return blobs }
        return nil
    }

    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        blob = try BlobLeaf(node, space, isText: false)
    }

    package func binary(_ row: Int) throws(StorageError) -> ByteView? { try blob.bytes(row) }

    package func value(_ row: Int) throws(StorageError) -> Value { try binary(row).map(Value.binary) ?? .null }
}
