// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of values of any type: one word each, with payloads in side arrays.
///
/// Word 0 is null. Otherwise bits 4:0 are the type number plus 1, bits 7:5 the slot of the payload (0: in the word), and `word
/// >> 8` is the value or the index into that slot.
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
/// The side arrays are checked when the leaf is attached, and attached again for each value that needs one: if they were kept,
/// leaves of every type would be three times as large, because `ColumnLeaf` has room for the largest.
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
        try self.init(forFewOf: node, space)
        _ = try numbers(Slot.integers)
        _ = try numbers(Slot.pairs)
        _ = try strings()
        _ = try collections()
    }

    /// Attaches a mixed leaf of which a few values are read. A side array is checked when a value needs it.
    ///
    /// - Parameters:
    ///   - node: The leaf, a node of 4 to 6 refs.
    ///   - space: The space that the refs point into.
    /// - Throws: `.corrupt` for another shape of the leaf or of its words.
    init(forFewOf node: Node, _ space: NodeSpace) throws(StorageError) {
        try MixedLeaf.requireShape(node)
        self.node = node
        self.space = space
        let first = try space.node(at: try node.requiredRef(0, "mixed words"))
        guard !first.hasRefs else { throw first.corrupt("mixed words are a plain integer node") }
        words = try first.integers()
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
    package func strings() throws(StorageError) -> StringLeaf? {
        let ref = try node.optionalRef(Slot.strings, "mixed strings")
        return ref.isNone ? nil : try StringLeaf(try space.node(at: ref), space)
    }

    /// Returns the node with the refs of nested collections; nil when the leaf has none.
    private func collections() throws(StorageError) -> Node? {
        let ref = try node.optionalRef(Slot.collections, "nested collections")
        guard !ref.isNone else { return nil }
        let nested = try space.node(at: ref)
        guard nested.hasRefs else { throw nested.corrupt("expected refs of collections, found a node without refs") }
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
    package func value(_ row: Int) throws(StorageError) -> Value { try value(row, nil) }

    /// The side arrays of a leaf, attached for reading many of its values.
    package struct Payloads: Sendable {
        /// Slot 1; nil when the leaf has none.
        fileprivate let integers: PackedIntegers?
        /// Slot 2; nil when the leaf has none.
        fileprivate let pairs: PackedIntegers?
        /// Slot 3; nil when the leaf has none.
        fileprivate let strings: StringLeaf?

        /// Returns the bytes at an index of slot 3; nil when it has none there.
        fileprivate func bytes(_ index: Int64) throws(StorageError) -> ByteView? {
            guard index >= 0, index < strings?.count ?? 0 else { return nil }
            return try strings?.string(Int(index))
        }
    }

    /// Attaches the side arrays, so that values are read faster; throws `.corrupt` for another shape of one of them.
    package func attachPayloads() throws(StorageError) -> Payloads {
        Payloads(integers: try numbers(Slot.integers), pairs: try numbers(Slot.pairs), strings: try strings())
    }

    /// Returns the value in `row`, as the other function does.
    ///
    /// - Parameters:
    ///   - row: The row, in `0..<count`.
    ///   - payloads: The attached side arrays of this leaf; nil to attach the one that the value needs.
    package func value(_ row: Int, _ payloads: Payloads?) throws(StorageError) -> Value {
        let word = words[row]
        guard word != 0 else { return .null }
        let type = MixedEntry.type(ofWord: word)
        let slot = MixedEntry.slot(ofWord: word)
        let payload = word >> 8
        switch (type, slot) {
        case (Number.int, Slot.words): return .int(payload)
        case (Number.int, Slot.integers): return .int(try integer(payload, row, payloads))
        case (Number.bool, Slot.words): return .bool(payload != 0)
        case (Number.string, Slot.strings): return .string(try bytes(payload, row, payloads))
        case (Number.binary, Slot.strings): return .binary(try bytes(payload, row, payloads))
        case (Number.timestamp, Slot.pairs): return .timestamp(try timestamp(payload, row, payloads))
        case (Number.float, Slot.integers):
            return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(payload, row, payloads))))
        case (Number.double, Slot.integers):
            return .double(Double(bitPattern: UInt64(bitPattern: try integer(payload, row, payloads))))
        case (Number.decimal, Slot.pairs): return try decimal(payload, row, payloads)
        case (Number.untargetedLink, Slot.integers): throw node.corrupt("value \(row) is a link without its table")
        case (Number.objectID, Slot.strings):
            return .objectID(try identifier(payload, row, byteCount: 12, payloads).objectID(at: 0))
        case (Number.link, Slot.pairs): return try link(payload, row, payloads)
        case (Number.uuid, Slot.strings): return .uuid(try identifier(payload, row, byteCount: 16, payloads).uuid(at: 0))
        case (Number.list, Slot.collections): return .list(try collection(payload, row))
        case (Number.dictionary, Slot.collections): return .dictionary(try collection(payload, row))
        default: throw node.corrupt("value \(row) has type \(type) with its payload in slot \(slot)")
        }
    }

    /// Returns the rows whose values may have the rank of a type among values, as far as their words alone show it.
    ///
    /// - Parameters:
    ///   - rank: The rank, as of `Value.typeRank`. Some decimals and links also read as null.
    ///   - rows: The rows to look at.
    package func rows(ofRank rank: Int, among rows: Mask) -> Mask {
        let wanted = MixedLeaf.typeNumbers(ofRank: rank)
        return rows.filtered { row in
            let word = words[row]
            // The number of null is 0, those of all others are one more than in `Number`.
            return wanted >> UInt32(truncatingIfNeeded: word & 0x1f) & 1 == 1
        }
    }

    /// Compares integers that lie in the words themselves and doubles, which most numbers are.
    ///
    /// - Parameters:
    ///   - constant: The constant, of up to 53 bits.
    ///   - rows: The rows to look at.
    ///   - payloads: The attached side arrays of this leaf.
    /// - Returns: The rows for which the comparison holds, and those of other numbers, which have to be compared by value.
    package func compareNumbers(
        _ relation: Relation, _ constant: Int64, among rows: Mask, _ payloads: Payloads
    ) -> (found: Mask, others: Mask) {
        let numbers = MixedLeaf.typeNumbers(ofRank: Value.int(0).typeRank)
        var others = Mask.none
        let found = rows.filtered { row in
            let word = words[row]
            if word & 0xff == Int64(Number.int + 1) { return relation.holds(word >> 8, constant) }
            guard numbers >> UInt32(truncatingIfNeeded: word & 0x1f) & 1 == 1 else { return false }
            guard word & 0xff == Int64(Slot.integers << 5 | (Number.double + 1)), let integers = payloads.integers,
                word >> 8 >= 0, word >> 8 < integers.count
            else {
                others[row] = true
                return false
            }
            let number = Double(bitPattern: UInt64(bitPattern: integers[Int(word >> 8)]))
            if number.isNaN { others[row] = true }
            return !number.isNaN && relation.holds(number, Double(constant))
        }
        return (found, others)
    }

    /// Returns the rows that have a text whose index in the side array of texts is set in a mask.
    ///
    /// - Parameters:
    ///   - texts: The entries of the side array, which has no more than the mask has room for.
    ///   - rows: The rows to look at.
    package func rows(ofTexts texts: Mask, among rows: Mask) -> Mask {
        guard texts.count > MixedLeaf.fewTexts else {
            // A text has a word of its own, so a few of them are looked for many words at a time.
            var found = Mask.none
            texts.forEach { index in
                let word = MixedEntry.word(type: Number.string, slot: Slot.strings, index: Int64(index))
                found = found | words.compare(.equal, word, start: 0, count: min(words.count, Mask.capacity))
            }
            return found & rows
        }
        return rows.filtered { row in
            let word = words[row]
            let index = word >> 8
            return word & 0xff == Int64(Slot.strings << 5 | (Number.string + 1)) && index >= 0 && index < Int64(Mask.capacity)
                && texts[Int(truncatingIfNeeded: index)]
        }
    }

    /// The number of texts up to which each is searched separately.
    private static let fewTexts = 8

    /// Attaches the side array of texts, binaries and ids, if a mask has room for all of its entries and it has any; nil otherwise.
    package func attachTexts() throws(StorageError) -> StringLeaf? {
        guard let texts = try strings(), texts.count <= Mask.capacity else { return nil }
        return texts
    }

    /// The numbers in words, as bits, that values of a rank may have.
    private static func typeNumbers(ofRank rank: Int) -> UInt32 {
        let numbers: [Int] =
            switch rank {
            case Value.null.typeRank: [-1, Number.decimal, Number.link, Number.untargetedLink]
            case Value.bool(true).typeRank: [Number.bool]
            case Value.int(0).typeRank: [Number.int, Number.float, Number.double, Number.decimal]
            case Value.string(.empty).typeRank: [Number.string]
            case Value.binary(.empty).typeRank: [Number.binary]
            // Every number, for types that are compared seldom.
            default: Array(-1..<31)
            }
        return numbers.reduce(0) { $0 | 1 << UInt32($1 + 1) }
    }

    /// Returns the link in `row` as it is stored, unresolved ones included; nil when the value is not a link.
    package func storedLink(_ row: Int) throws(StorageError) -> (table: TableKey, key: ObjectKey)? {
        let word = words[row]
        guard MixedEntry.type(ofWord: word) == Number.link, MixedEntry.slot(ofWord: word) == Slot.pairs else { return nil }
        return try rawLink(word >> 8, row, nil)
    }

    /// Returns whether the value in `row` is a link that the space hides.
    func hidesLink(_ row: Int) throws(StorageError) -> Bool {
        guard let filter = space.linkFilter, let link = try storedLink(row) else { return false }
        return try filter.hides(link.table, link.key)
    }

    /// Reads the number at `index` of slot 1. `row` is used in the error message only.
    private func integer(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> Int64 {
        let integers = if let payloads { payloads.integers } else { try numbers(Slot.integers) }
        guard let integers, index >= 0, index < integers.count else {
            throw node.corrupt("value \(row) has its number outside slot 1")
        }
        return integers[Int(index)]
    }

    /// Reads the two numbers at `index` of slot 2. `row` is used in the error message only.
    private func pair(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> (Int64, Int64) {
        let pairs = if let payloads { payloads.pairs } else { try numbers(Slot.pairs) }
        guard let pairs, index >= 0, index < pairs.count / 2 else {
            throw node.corrupt("value \(row) has its pair outside slot 2")
        }
        return (pairs[Int(index) * 2], pairs[Int(index) * 2 + 1])
    }

    /// Reads the bytes at `index` of slot 3. `row` is used in the error message only.
    private func bytes(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> ByteView {
        let found = if let payloads { try payloads.bytes(index) } else { try MixedLeaf.bytes(index, of: try strings()) }
        guard let found else { throw node.corrupt("value \(row) has its bytes outside slot 3") }
        return found
    }

    /// Returns the bytes at an index of slot 3; nil when it has none there.
    private static func bytes(_ index: Int64, of strings: StringLeaf?) throws(StorageError) -> ByteView? {
        guard let strings, index >= 0, index < strings.count else { return nil }
        return try strings.string(Int(index))
    }

    /// Reads bytes in slot 3 that must have the length of an id; throws `.corrupt` for another length.
    private func identifier(
        _ index: Int64, _ row: Int, byteCount: Int, _ payloads: Payloads?
    ) throws(StorageError) -> ByteView {
        let view = try bytes(index, row, payloads)
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

    /// Reads a date in slot 2; throws `.corrupt` when its nanoseconds are out of range or contradict the seconds.
    private func timestamp(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> Timestamp {
        let (seconds, nanoseconds) = try pair(index, row, payloads)
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000,
            nanoseconds == 0 || seconds == 0 || (nanoseconds < 0) == (seconds < 0)
        else { throw node.corrupt("value \(row): date of \(seconds) s and \(nanoseconds) ns, beyond 10^9 or of another sign") }
        return Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanoseconds))
    }

    /// Reads a decimal in slot 2; the decimal that means null is returned as null.
    private func decimal(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> Value {
        let (low, high) = try pair(index, row, payloads)
        let number = Decimal128(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high))
        return number.isNull ? .null : .decimal(number)
    }

    /// Reads the table and key of a link in slot 2 as they are stored.
    private func rawLink(
        _ index: Int64, _ row: Int, _ payloads: Payloads?
    ) throws(StorageError) -> (table: TableKey, key: ObjectKey) {
        let (table, key) = try pair(index, row, payloads)
        guard let table = UInt32(exactly: table) else { throw node.corrupt("value \(row) links to table \(table)") }
        return (TableKey(table), ObjectKey(key))
    }

    /// Reads a link in slot 2; an unresolved one, and one that the space hides, is returned as null.
    private func link(_ index: Int64, _ row: Int, _ payloads: Payloads?) throws(StorageError) -> Value {
        let (table, key) = try rawLink(index, row, payloads)
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
