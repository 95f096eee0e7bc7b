// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of ObjectIds and UUIDs: blocks of one byte with null bits and up to eight elements.
///
/// Inserting and erasing move the elements that follow one by one, as each may cross into another
/// block. Source: docs/format.md, "ObjectId, UUID".
struct IdentifierLeafForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// The size of an id in bytes: 12 for ObjectIds, 16 for UUIDs.
    let elementByteCount: Int
    /// Whether the column or collection may have nulls.
    let isNullable: Bool

    /// One id in its stored form: its bytes as two little-endian numbers, or null.
    private struct Element {
        var first: UInt64 = 0
        /// The lower half of a UUID, or the last 4 bytes of an ObjectId.
        var last: UInt64 = 0
        var isNull = false
    }

    /// Null where that is allowed, else an id of zeros.
    var defaultValue: Value {
        if isNullable { return .null }
        return elementByteCount == 12 ? .objectID(ObjectID(first: 0, last: 0)) : .uuid(UUIDValue(first: 0, last: 0))
    }

    /// Makes a leaf of zeros, with all null bits set where null is allowed.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        let node = try writes.makeNode(.elements, widthCode: 1, count: byteCount(count))
        if isNullable { for row in 0..<count { store(Element(isNull: true), in: node, row) } }
        return node.ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int { try view(try writes.node(at: leaf)).count }

    /// Moves the later ids up one by one, and stores the new one.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let element = try element(value)
        var (node, count) = try writable(leaf)
        try node.requireRow(row, below: count + 1)
        try resize(&node, to: count + 1)
        for index in stride(from: count, to: row, by: -1) { store(load(index - 1, in: node), in: node, index) }
        store(element, in: node, row)
        return node.ref
    }

    /// Makes room for all ids at once, and stores them.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        let standard = try element(defaultValue)
        var (node, row) = try writable(leaf)
        try resize(&node, to: row + values.count)
        for value in values {
            store(try value.map { (value) throws(StorageError) in try element(value) } ?? standard, in: node, row)
            row += 1
        }
        return node.ref
    }

    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let element = try element(value)
        let (node, count) = try writable(leaf)
        try node.requireRow(row, below: count)
        store(element, in: node, row)
        return node.ref
    }

    /// Moves the later ids down one by one, and clears the null bits after the last one.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var (node, count) = try writable(leaf)
        try node.requireRow(row, below: count)
        for index in row..<count - 1 { store(load(index + 1, in: node), in: node, index) }
        try truncate(&node, to: count - 1)
        return node.ref
    }

    /// Moves the values from `row` on one by one to the blocks of a new leaf.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var (node, count) = try writable(leaf)
        try node.requireRow(row, below: count + 1)
        let tail = try writes.makeNode(.elements, widthCode: 1, count: byteCount(count - row))
        for index in row..<count { store(load(index, in: node), in: tail, index - row) }
        try truncate(&node, to: row)
        return (node.ref, tail.ref)
    }

    /// Appends the values of `next` one by one, as they may belong to another place of a block.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var (node, count) = try writable(leaf)
        let other = try view(try writes.node(at: next))
        try resize(&node, to: count + other.count)
        for index in 0..<other.count { store(load(index, in: other.node), in: node, count + index) }
        writes.discard(other.node)
        return node.ref
    }

    // MARK: - Blocks

    /// The size in bytes of a full block: eight ids and the byte with their null bits.
    private var blockByteCount: Int { 8 * elementByteCount + 1 }

    /// Returns the size in bytes of the payload that holds `count` elements.
    private func byteCount(_ count: Int) -> Int { count * elementByteCount + (count + 7) >> 3 }

    /// Attaches the leaf for reading; throws `.corrupt` for another shape.
    private func view(_ node: Node) throws(StorageError) -> IdentifierLeaf {
        try IdentifierLeaf(node, elementByteCount: elementByteCount)
    }

    /// Makes the leaf ready to be changed. An empty leaf of another width than 1 is replaced by a new empty node of width 1.
    ///
    /// - Returns: The node, copied into the memory of the transaction if it was committed, and how many
    ///   ids it has.
    /// - Throws: `.corrupt` when it is not a leaf of these ids.
    private func writable(_ leaf: Ref) throws(StorageError) -> (MutableNode, Int) {
        let node = try writes.writableElements(leaf)
        let count = try view(node.node).count
        if node.width == 1 { return (node, count) }
        writes.discard(node.node)
        return (try writes.makeNode(.elements, widthCode: 1), 0)
    }

    /// Makes the payload as long as `count` ids need; new bytes are undefined until they are stored.
    private func resize(_ node: inout MutableNode, to count: Int) throws(StorageError) {
        try node.replaceElements(at: node.count, removing: 0, inserting: byteCount(count) - node.count)
    }

    /// Removes the elements from `count` on, and clears their null bits in the last block.
    private func truncate(_ node: inout MutableNode, to count: Int) throws(StorageError) {
        let end = byteCount(count)
        try node.replaceElements(at: end, removing: node.count - end, inserting: 0)
        guard count & 7 != 0 else { return }
        let bits = (count >> 3) * blockByteCount
        node.store(node.load(byteOffset: bits, as: UInt8.self) & ((1 << UInt8(count & 7)) - 1), atByte: bits)
    }

    /// Reads the id in `row` of a node that is being changed.
    private func load(_ row: Int, in node: MutableNode) -> Element { load(row, in: node.node) }

    /// Reads the id in `row`, with its null bit.
    private func load(_ row: Int, in node: Node) -> Element {
        let block = (row >> 3) * blockByteCount
        let start = block + 1 + (row & 7) * elementByteCount
        return Element(
            first: node.load(byteOffset: start, as: UInt64.self),
            last: elementByteCount == 12
                ? UInt64(node.load(byteOffset: start + 8, as: UInt32.self)) : node.load(byteOffset: start + 8, as: UInt64.self),
            isNull: node.load(byteOffset: block, as: UInt8.self) >> UInt8(row & 7) & 1 == 1)
    }

    /// Stores an id and sets or clears its null bit in the byte at the start of its block.
    private func store(_ element: Element, in node: MutableNode, _ row: Int) {
        let block = (row >> 3) * blockByteCount
        let start = block + 1 + (row & 7) * elementByteCount
        let bit: UInt8 = 1 << UInt8(row & 7)
        let bits = node.load(byteOffset: block, as: UInt8.self)
        node.store(element.isNull ? bits | bit : bits & ~bit, atByte: block)
        node.store(element.first, atByte: start)
        if elementByteCount == 12 {
            node.store(UInt32(truncatingIfNeeded: element.last), atByte: start + 8)
        } else {
            node.store(element.last, atByte: start + 8)
        }
    }

    /// Returns the stored form of a value.
    ///
    /// - Throws: `.limit` for a value of another type, or a null where none may be.
    private func element(_ value: Value) throws(StorageError) -> Element {
        switch value {
        case .null where isNullable: return Element(isNull: true)
        case .objectID(let id) where elementByteCount == 12:
            return Element(first: id.first.byteSwapped, last: UInt64(id.last.byteSwapped))
        case .uuid(let id) where elementByteCount == 16:
            return Element(first: id.first.byteSwapped, last: id.last.byteSwapped)
        default: throw misfit(elementByteCount == 12 ? "an ObjectId" : "a UUID")
        }
    }
}
