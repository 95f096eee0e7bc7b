// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of floats and doubles: their bits, with one particular NaN for null.
///
/// Source: docs/format.md, "Float, double".
struct RealLeafForm: ElementLeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether the numbers are doubles; floats otherwise.
    let isDouble: Bool
    /// Whether the column or collection may have nulls.
    let isNullable: Bool

    /// The size of a number in bytes.
    private var size: Int { isDouble ? 8 : 4 }
    private var widthCode: Int { isDouble ? 4 : 3 }

    /// Null where that is allowed, else zero.
    var defaultValue: Value { isNullable ? .null : isDouble ? .double(0) : .float(0) }

    /// Makes a leaf of zeros, or of the NaN that means null.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        let node = try writes.makeNode(.elements, widthCode: widthCode, count: count)
        if isNullable { for row in 0..<count { store(nullBits, in: node, row) } }
        return node.ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int { try writes.node(at: leaf).count }

    /// Inserts the bits of a number, or those of the NaN that means null.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let bits = try bits(of: value)
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        try node.replaceElements(at: row, removing: 0, inserting: 1)
        store(bits, in: node, row)
        return node.ref
    }

    /// Adds the bits of numbers, or those of the NaN that means null.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        let standard = defaultValue
        var node = try writable(leaf)
        var row = node.count
        try node.replaceElements(at: row, removing: 0, inserting: values.count)
        for value in values {
            store(try bits(of: value ?? standard), in: node, row)
            row += 1
        }
        return node.ref
    }

    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let bits = try bits(of: value)
        let node = try writable(leaf)
        try node.requireRow(row)
        store(bits, in: node, row)
        return node.ref
    }

    /// Appends the numbers of `next` as one run of bytes.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        let other = try writes.node(at: next)
        try other.requireFixedWidth(size, "real")
        try node.appendElements(of: other)
        writes.discard(other)
        return node.ref
    }

    // MARK: - Bits

    /// The bits of null in this width, as 64 bits.
    private var nullBits: UInt64 { isDouble ? DoubleLeaf.nullBits : UInt64(FloatLeaf.nullBits) }

    /// Makes the leaf ready to be changed. An empty leaf of another width is replaced by a new empty node
    /// of the width of the numbers.
    ///
    /// - Throws: `.corrupt` when it has elements of another size.
    func writable(_ leaf: Ref) throws(StorageError) -> MutableNode {
        let node = try writes.writableElements(leaf)
        if node.width == size { return node }
        guard node.count == 0 else { throw node.node.corrupt("a leaf of reals has elements of \(size) bytes") }
        writes.discard(node.node)
        return try writes.makeNode(.elements, widthCode: widthCode)
    }

    /// Stores the bits of a number; of a float, the lower 32.
    private func store(_ bits: UInt64, in node: MutableNode, _ row: Int) {
        if isDouble {
            node.store(bits, atByte: row * 8)
        } else {
            node.store(UInt32(truncatingIfNeeded: bits), atByte: row * 4)
        }
    }

    /// Returns the bits that are stored for a value. A NaN that would read as null is stored as the usual NaN.
    ///
    /// - Throws: `.limit` for a value of another type, or a null where none may be.
    private func bits(of value: Value) throws(StorageError) -> UInt64 {
        switch value {
        case .null where isNullable: return nullBits
        case .double(let number) where isDouble:
            return number.bitPattern == nullBits ? Double.nan.bitPattern : number.bitPattern
        case .float(let number) where !isDouble:
            return UInt64(number.bitPattern) == nullBits ? UInt64(Float.nan.bitPattern) : UInt64(number.bitPattern)
        default: throw misfit(isDouble ? "a double" : "a float")
        }
    }
}

// MARK: - Whole-byte elements

/// Splitting leaves whose elements have whole bytes.
extension WriteSpace {
    /// Moves the elements from `row` on to a new node of the same width and flags.
    ///
    /// - Returns: The ref of the new node.
    func splitElements(_ node: inout MutableNode, at row: Int) throws(StorageError) -> Ref {
        let moved = node.count - row
        let tail = try makeNode(.elements, widthCode: node.widthCode, count: moved)
        tail.setContext(node.hasContext)
        tail.store(node.bytes.suffix(from: row * node.width), atByte: 0)
        try node.replaceElements(at: row, removing: moved, inserting: 0)
        return tail.ref
    }
}

/// Joining leaves whose elements have whole bytes.
extension MutableNode {
    /// Appends the elements of a node of the same width.
    mutating func appendElements(of other: Node) throws(StorageError) {
        let start = count
        try replaceElements(at: start, removing: 0, inserting: other.count)
        store(other.bytes, atByte: start * width)
    }
}
