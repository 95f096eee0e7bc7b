// SPDX-License-Identifier: Apache-2.0

/// A leaf of values of any type: one word each, with payloads in side arrays.
///
/// Word 0 is null. Otherwise bits 4:0 are the type number plus 1, bits 7:5 the slot of the payload
/// (0: in the word),
/// and `word >> 8` is the value or the index into that slot.
///
/// | slot | node |
/// |---|---|
/// | 0 | words |
/// | 1 | big integers, bits of floats and doubles |
/// | 2 | pairs: dates, decimals, links |
/// | 3 | strings, binaries, ids |
/// | 4 | refs of nested collections |
/// | 5 | identifiers for change notifications, ignored |
///
/// Source: docs/format.md, "Mixed".
///
/// The side arrays are checked when the leaf is attached, and attached again for each value that
/// needs one: if they were kept, leaves of every type would be three times as large, because
/// `ColumnLeaf` has room for the largest.
package struct MixedLeaf: Sendable {
    /// One word per value: its type, its slot, and the value itself or the index of its payload.
    package let words: PackedIntegers
    /// The node with the refs of the side arrays.
    private let node: Node
    /// The space that the side arrays are read in.
    private let space: NodeSpace
    /// How many values the leaf has, nulls included.
    package var count: Int { words.count }

    /// Attaches a mixed leaf and checks its side arrays.
    ///
    /// - Parameters:
    ///   - node: The leaf, a node of 4 to 6 refs.
    ///   - space: The space that the refs point into.
    /// - Throws: `.corrupt` for another shape of the leaf or of a side array.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        try MixedLeaf.requireShape(node)
        self.node = node
        self.space = space
        let first = try space.node(at: try node.requiredRef(0, "mixed words"))
        guard !first.hasRefs else { throw first.corrupt("mixed words are a plain integer node") }
        words = try first.integers()
        _ = try numbers(Slot.integers)
        _ = try numbers(Slot.pairs)
        _ = try strings()
        _ = try collections()
    }

    /// Checks that `node` has the slots of a mixed leaf and throws `.corrupt` otherwise; the slots
    /// of nested collections and of ids may be missing.
    static func requireShape(_ node: Node) throws(StorageError) {
        guard node.hasRefs, !node.isInner, (4...MixedEntry.Slot.count).contains(node.count) else {
            throw node.corrupt("a mixed leaf has 4 to 6 slots")
        }
    }

    /// Attaches a side array of numbers; nil when the leaf has none.
    private func numbers(_ slot: Int) throws(StorageError) -> PackedIntegers? {
        let ref = try node.optionalRef(slot, "mixed payload")
        guard !ref.isNone else { return nil }
        let child = try space.node(at: ref)
        guard !child.hasRefs else { throw child.corrupt("a mixed payload array is a plain integer node") }
        return try child.integers()
    }

    /// Attaches the side array of texts, binaries and ids; nil when the leaf has none.
    func strings() throws(StorageError) -> StringLeaf? {
        let ref = try node.optionalRef(Slot.strings, "mixed strings")
        return ref.isNone ? nil : try StringLeaf(try space.node(at: ref), space)
    }

    /// Returns the node with the refs of nested collections; nil when the leaf has none.
    private func collections() throws(StorageError) -> Node? {
        let ref = try node.optionalRef(Slot.collections, "nested collections")
        guard !ref.isNone else { return nil }
        let nested = try space.node(at: ref)
        guard nested.hasRefs else { throw nested.corrupt("refs of nested collections expected") }
        return nested
    }

    /// The numbers of the side arrays, under a shorter name.
    private typealias Slot = MixedEntry.Slot
    /// The numbers of the types, under a shorter name.
    private typealias Number = MixedEntry.Number

    /// Returns the value in `row`, which must be in `0..<count`. Unresolved links read as null.
    ///
    /// - Throws: `.corrupt` for a word whose type and slot do not belong together, or whose payload
    ///   does not exist.
    package func value(_ row: Int) throws(StorageError) -> Value {
        let word = words[row]
        guard word != 0 else { return .null }
        let type = MixedEntry.type(ofWord: word)
        let slot = MixedEntry.slot(ofWord: word)
        let payload = word >> 8
        switch (type, slot) {
        case (Number.int, Slot.words): return .int(payload)
        case (Number.int, Slot.integers): return .int(try integer(payload, row))
        case (Number.bool, Slot.words): return .bool(payload != 0)
        case (Number.string, Slot.strings): return .string(try bytes(payload, row))
        case (Number.binary, Slot.strings): return .binary(try bytes(payload, row))
        case (Number.timestamp, Slot.pairs): return .timestamp(try timestamp(payload, row))
        case (Number.float, Slot.integers):
            return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(payload, row))))
        case (Number.double, Slot.integers): return .double(Double(bitPattern: UInt64(bitPattern: try integer(payload, row))))
        case (Number.decimal, Slot.pairs): return try decimal(payload, row)
        case (Number.untargetedLink, Slot.integers): throw node.corrupt("value \(row) is a link without its table")
        case (Number.objectID, Slot.strings): return .objectID(try identifier(payload, row, 12).objectID(at: 0))
        case (Number.link, Slot.pairs): return try link(payload, row)
        case (Number.uuid, Slot.strings): return .uuid(try identifier(payload, row, 16).uuid(at: 0))
        case (Number.list, Slot.collections): return .list(try collection(payload, row))
        case (Number.dictionary, Slot.collections): return .dictionary(try collection(payload, row))
        default: throw node.corrupt("value \(row) has type \(type) with its payload in slot \(slot)")
        }
    }

    /// Returns the link in `row` as it is stored, unresolved ones included; nil when the value is
    /// not a link.
    package func storedLink(_ row: Int) throws(StorageError) -> (table: TableKey, key: ObjectKey)? {
        let word = words[row]
        guard MixedEntry.type(ofWord: word) == Number.link, MixedEntry.slot(ofWord: word) == Slot.pairs else { return nil }
        return try rawLink(word >> 8, row)
    }

    /// Returns whether the value in `row` is a link that the space hides.
    func hidesLink(_ row: Int) throws(StorageError) -> Bool {
        guard let filter = space.linkFilter, let link = try storedLink(row) else { return false }
        return try filter.hides(link.table, link.key)
    }

    /// Reads the number at `index` of slot 1. `row` is used in the error message only.
    private func integer(_ index: Int64, _ row: Int) throws(StorageError) -> Int64 {
        guard let integers = try numbers(Slot.integers), index >= 0, index < integers.count else {
            throw node.corrupt("value \(row) has its number outside slot 1")
        }
        return integers[Int(index)]
    }

    /// Reads the two numbers at `index` of slot 2. `row` is used in the error message only.
    private func pair(_ index: Int64, _ row: Int) throws(StorageError) -> (Int64, Int64) {
        guard let pairs = try numbers(Slot.pairs), index >= 0, index < pairs.count / 2 else {
            throw node.corrupt("value \(row) has its pair outside slot 2")
        }
        return (pairs[Int(index) * 2], pairs[Int(index) * 2 + 1])
    }

    /// Reads the bytes at `index` of slot 3. `row` is used in the error message only.
    private func bytes(_ index: Int64, _ row: Int) throws(StorageError) -> ByteView {
        guard let strings = try strings(), index >= 0, index < strings.count, let bytes = try strings.string(Int(index)) else {
            throw node.corrupt("value \(row) has its bytes outside slot 3")
        }
        return bytes
    }

    /// Reads bytes in slot 3 that must have the length of an id; throws `.corrupt` for another
    /// length.
    private func identifier(_ index: Int64, _ row: Int, _ byteCount: Int) throws(StorageError) -> ByteView {
        let view = try bytes(index, row)
        guard view.count == byteCount else { throw node.corrupt("value \(row) is an id of \(view.count) bytes") }
        return view
    }

    /// Returns the root of the nested collection at `index` of slot 4.
    private func collection(_ index: Int64, _ row: Int) throws(StorageError) -> Ref {
        guard let collections = try collections(), index >= 0, index < collections.count else {
            throw node.corrupt("value \(row) has its collection outside slot 4")
        }
        return try collections.optionalRef(Int(index), "nested collection")
    }

    /// Reads a date in slot 2; throws `.corrupt` when its nanoseconds are out of range or
    /// contradict the seconds.
    private func timestamp(_ index: Int64, _ row: Int) throws(StorageError) -> Timestamp {
        let (seconds, nanoseconds) = try pair(index, row)
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000,
            nanoseconds == 0 || seconds == 0 || (nanoseconds < 0) == (seconds < 0)
        else { throw node.corrupt("value \(row) is a date with \(seconds) seconds and \(nanoseconds) nanoseconds") }
        return Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanoseconds))
    }

    /// Reads a decimal in slot 2; the decimal that means null is returned as null.
    private func decimal(_ index: Int64, _ row: Int) throws(StorageError) -> Value {
        let (low, high) = try pair(index, row)
        let number = Decimal128(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high))
        return number.isNull ? .null : .decimal(number)
    }

    /// Reads the table and key of a link in slot 2 as they are stored.
    private func rawLink(_ index: Int64, _ row: Int) throws(StorageError) -> (table: TableKey, key: ObjectKey) {
        let (table, key) = try pair(index, row)
        guard let table = UInt32(exactly: table) else { throw node.corrupt("value \(row) links to table \(table)") }
        return (TableKey(table), ObjectKey(key))
    }

    /// Reads a link in slot 2; an unresolved one, and one that the space hides, is returned as null.
    private func link(_ index: Int64, _ row: Int) throws(StorageError) -> Value {
        let (table, key) = try rawLink(index, row)
        if key.rawValue < 0 { return .null }
        return try space.linkFilter?.hides(table, key) ?? false ? .null : .link(table, key)
    }
}

/// Ids read from bytes, whose first byte is the highest.
extension ByteView {
    /// Reads the 12 bytes from `offset` as an ObjectId; the caller has checked that they exist.
    func objectID(at offset: Int) -> ObjectID {
        ObjectID(first: bigEndian(offset, 8), last: UInt32(truncatingIfNeeded: bigEndian(offset + 8, 4)))
    }

    /// Reads the 16 bytes from `offset` as a UUID; the caller has checked that they exist.
    func uuid(at offset: Int) -> UUIDValue {
        UUIDValue(first: bigEndian(offset, 8), last: bigEndian(offset + 8, 8))
    }

    /// Reads up to eight bytes as a number, the highest byte first.
    private func bigEndian(_ offset: Int, _ byteCount: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in offset..<offset + byteCount { number = number << 8 | UInt64(self[index]) }
        return number
    }
}
