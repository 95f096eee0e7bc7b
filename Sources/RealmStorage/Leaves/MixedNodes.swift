// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The parts of one Mixed leaf while they change.
///
/// Every payload belongs to one value. To remove a payload, the last one of its slot is moved into its place, and the word that
/// referred to the last one is changed. Source: docs/format.md, "Mixed".
struct MixedNodes {
    /// The numbers of the side arrays, under a shorter name.
    private typealias Slot = MixedEntry.Slot
    /// The nodes of the transaction, committed and new.
    private let writes: WriteSpace
    /// The node with the refs of the side arrays.
    private var top: MutableNode
    /// One word per value: its type, its slot, and the value itself or the index of its payload.
    private var words: MutableNode

    /// Opens a mixed leaf for changes; the leaf and its words are copied if they are committed.
    ///
    /// Missing slots are added, and the list of ids is made as long as the leaf.
    ///
    /// - Throws: `.corrupt` for another shape.
    init(_ writes: WriteSpace, _ leaf: Ref) throws(StorageError) {
        self.writes = writes
        top = try writes.writableRefs(leaf)
        try MixedLeaf.requireShape(top.node)
        words = try writes.writableIntegers(try top.node.requiredRef(Slot.words, "mixed words"))
        while top.count < Slot.count { try top.append(.none) }
        try completeIDs()
    }

    /// How many values the leaf has at present.
    var count: Int { words.count }

    /// Stores the ref of the words and returns the ref of the leaf; called once, after all changes.
    mutating func finish() throws(StorageError) -> Ref {
        try top.update(Slot.words, words.ref)
        return top.ref
    }

    // MARK: - Values

    /// Inserts a value at `row`, with its payload, and chooses an id for a nested collection that has none.
    ///
    /// - Parameters:
    ///   - entry: The stored parts of the value.
    ///   - row: The new row, `0...count`.
    mutating func insert(_ entry: MixedEntry, at row: Int) throws(StorageError) {
        try words.requireRow(row, below: count + 1)
        let word = try addPayload(entry)
        try words.insert(word, at: row)
        if let ref = try optionalRef(Slot.ids) {
            var ids = try writes.writableIntegers(ref)
            try ids.insert(0, at: row)
            try top.update(Slot.ids, ids.ref)
        }
        try setID(entry, row)
    }

    /// Replaces the value in `row` and its payload; a payload in the same slot is overwritten in place.
    mutating func set(_ entry: MixedEntry, at row: Int) throws(StorageError) {
        try words.requireRow(row)
        let old = words.integer(row)
        if entry.slot != 0, entry.slot == MixedEntry.slot(ofWord: old) {
            let index = old >> 8
            try setPayload(entry, index)
            try words.set(row, MixedEntry.word(type: entry.type, slot: entry.slot, index: index))
        } else {
            try words.set(row, 0)
            try removePayload(old)
            try words.set(row, try addPayload(entry))
        }
        try setID(entry, row)
    }

    /// Removes the value in `row`, with its payload and its id.
    mutating func erase(_ row: Int) throws(StorageError) {
        try words.requireRow(row)
        let old = words.integer(row)
        words.removeInteger(at: row)
        try removePayload(old)
        guard let ref = try optionalRef(Slot.ids) else { return }
        var ids = try writes.writableIntegers(ref)
        ids.removeInteger(at: row)
        try top.update(Slot.ids, ids.ref)
    }

    /// Stores the root of the nested collection in `row`; throws `.corrupt` when the value is not a collection.
    mutating func setRoot(_ root: Ref, at row: Int) throws(StorageError) {
        try words.requireRow(row)
        let word = words.integer(row)
        guard MixedEntry.slot(ofWord: word) == Slot.collections else {
            throw top.node.corrupt("value \(row) is not a collection")
        }
        try setPayload(.collection(type: MixedEntry.type(ofWord: word), root, id: 0), word >> 8)
    }

    // MARK: - Reading

    /// Reads the value in `row` in its stored parts. Bytes are borrowed from the leaf, so they must
    /// be copied before the leaf changes.
    func entry(_ row: Int) throws(StorageError) -> MixedEntry {
        try MixedNodes.entry(row, word: words.integer(row), of: top.node, writes)
    }

    /// Reads a value of a leaf that is not opened for changes.
    ///
    /// - Parameters:
    ///   - row: The row of the value, for the error message.
    ///   - top: The leaf.
    ///   - writes: The nodes of the transaction.
    /// - Throws: `.corrupt` when the payload of the word does not exist.
    static func entry(_ row: Int, word: Int64, of top: Node, _ writes: WriteSpace) throws(StorageError) -> MixedEntry {
        let (type, slot, index) = (MixedEntry.type(ofWord: word), MixedEntry.slot(ofWord: word), word >> 8)
        guard slot != Slot.words else { return .word(word) }
        guard slot <= Slot.collections else { throw top.corrupt("value \(row) has its payload in slot \(slot)") }
        let ref = try top.requiredRef(slot, "mixed payload")
        if slot == Slot.strings {
            let strings = try StringLeaf(try writes.node(at: ref), writes.space)
            guard index >= 0, index < strings.count, let bytes = try strings.string(Int(index)) else { throw missing(top, row) }
            return .bytes(type: type, bytes)
        }
        let node = try writes.node(at: ref)
        let size = slot == Slot.pairs ? 2 : 1
        guard node.hasRefs == (slot == Slot.collections), node.widthType == 0, index >= 0, index < node.count / size else {
            throw missing(top, row)
        }
        let first = node.integer(Int(index) * size)
        switch slot {
        case Slot.integers: return .integer(type: type, first)
        case Slot.pairs: return .pair(type: type, first, node.integer(Int(index) * 2 + 1))
        default: return .collection(type: type, try node.optionalRef(Int(index), "nested collection"), id: 0)
        }
    }

    /// Makes the error for a word whose payload does not exist.
    private static func missing(_ top: Node, _ row: Int) -> StorageError {
        top.corrupt("value \(row) has its payload outside its slot")
    }

    /// Reads the value in `row` with the id of a nested collection, for insertion into another leaf.
    func entryWithID(_ row: Int) throws(StorageError) -> MixedEntry {
        guard case .collection(let type, let root, _) = try entry(row) else { return try entry(row) }
        return .collection(type: type, root, id: try id(row))
    }

    /// Discards the nodes of a leaf whose values have moved, but not the collections below them.
    mutating func discardShallow() throws(StorageError) {
        if let strings = try optionalRef(Slot.strings) { try writes.discardTree(strings) }
        for slot in [Slot.integers, Slot.pairs, Slot.collections, Slot.ids] {
            if let ref = try optionalRef(slot) { try writes.discard(ref) }
        }
        writes.discard(words.node)
        writes.discard(top.node)
    }

    /// Returns the ref of the node in a slot; nil when there is none.
    private func optionalRef(_ slot: Int) throws(StorageError) -> Ref? {
        let ref = try top.node.optionalRef(slot, "mixed payload")
        return ref.isNone ? nil : ref
    }

    // MARK: - Payloads

    /// The writer of the side array of texts, binaries and ids.
    private var strings: StringLeafForm { StringLeafForm(writes: writes, isNullable: true, enumeration: nil) }

    /// Makes the node of a slot ready to be changed.
    private func payload(_ slot: Int, _ ref: Ref) throws(StorageError) -> MutableNode {
        try slot == Slot.collections ? writes.writableRefs(ref) : writes.writableIntegers(ref)
    }

    /// Makes an empty node for a slot and returns its ref.
    private func makePayload(_ slot: Int) throws(StorageError) -> Ref {
        if slot == Slot.strings { return try strings.makeDefaults(count: 0) }
        return try writes.makeNode(slot == Slot.collections ? .refs : .integers).ref
    }

    /// Stores the payload of a new value at the end of its slot, and returns the word that refers to it.
    private mutating func addPayload(_ entry: MixedEntry) throws(StorageError) -> Int64 {
        if case .word(let word) = entry { return word }
        let slot = entry.slot
        let present = try optionalRef(slot)
        let ref = if let present { present } else { try makePayload(slot) }
        let index: Int
        switch entry {
        case .bytes(_, let bytes): index = try addBytes(bytes, ref)
        case .identifier(_, let storage): index = try addBytes(storage.view, ref)
        default:
            var node = try payload(slot, ref)
            index = slot == Slot.pairs ? node.count / 2 : node.count
            let (first, second) = MixedNodes.numbers(entry)
            try node.append(first)
            if let second { try node.append(second) }
            try top.update(slot, node.ref)
        }
        return MixedEntry.word(type: entry.type, slot: slot, index: Int64(index))
    }

    /// Appends the payload of a text, binary or id; returns its index.
    private mutating func addBytes(_ bytes: ByteView, _ ref: Ref) throws(StorageError) -> Int {
        let index = try strings.count(ref)
        try top.update(Slot.strings, try strings.insert(bytes, at: index, in: ref))
        return index
    }

    /// Overwrites the payload at `index` of the slot that `entry` belongs to; throws `.corrupt` when there is no such payload.
    private mutating func setPayload(_ entry: MixedEntry, _ index: Int64) throws(StorageError) {
        guard let ref = try optionalRef(entry.slot) else { throw top.node.corrupt("a mixed leaf lacks slot \(entry.slot)") }
        switch entry {
        case .word: return
        case .bytes(_, let bytes): try setBytes(bytes, index, ref)
        case .identifier(_, let storage): try setBytes(storage.view, index, ref)
        default:
            var node = try payload(entry.slot, ref)
            let (first, second) = MixedNodes.numbers(entry)
            let size = second == nil ? 1 : 2
            try MixedNodes.require(index, below: node.count / size, node)
            try node.set(Int(index) * size, first)
            if let second { try node.set(Int(index) * size + 1, second) }
            try top.update(entry.slot, node.ref)
        }
    }

    /// Overwrites the payload of a text, binary or id.
    private mutating func setBytes(_ bytes: ByteView, _ index: Int64, _ ref: Ref) throws(StorageError) {
        try top.update(Slot.strings, try strings.set(bytes, at: Int(index), in: ref))
    }

    /// Checks that a payload exists, and throws `.corrupt` otherwise.
    private static func require(_ index: Int64, below count: Int, _ payloads: MutableNode) throws(StorageError) {
        guard index >= 0, index < count else { throw payloads.node.corrupt("no payload \(index)") }
    }

    /// Returns the one or two numbers of a payload; 0 for bytes, which are stored differently.
    private static func numbers(_ entry: MixedEntry) -> (first: Int64, second: Int64?) {
        switch entry {
        case .integer(_, let number), .word(let number): return (number, nil)
        case .pair(_, let first, let second): return (first, second)
        case .collection(_, let root, _): return (Int64(bitPattern: root.rawValue), nil)
        case .bytes, .identifier: return (0, nil)
        }
    }

    /// Removes the payload of a word that has been removed from the leaf already, and fills its
    /// place with the last payload of the slot.
    private mutating func removePayload(_ word: Int64) throws(StorageError) {
        let (slot, index) = (MixedEntry.slot(ofWord: word), word >> 8)
        guard slot != 0 else { return }
        guard slot <= Slot.collections, let ref = try optionalRef(slot) else {
            throw top.node.corrupt("a value has its payload in slot \(slot), which is not there")
        }
        let last =
            try slot == Slot.strings
            ? removeBytes(index, ref) : removeNumbers(slot, index, size: slot == Slot.pairs ? 2 : 1, ref)
        if last != index { try patch(slot, from: last, to: index) }
        if last == 0 { try dropPayloads(slot) }
    }

    /// Removes a side array without payloads. The reference engine would lose such an empty node
    /// when it clears the leaf, so none is kept.
    private mutating func dropPayloads(_ slot: Int) throws(StorageError) {
        guard let ref = try optionalRef(slot) else { return }
        try writes.discardTree(ref)
        try top.update(slot, .none)
    }

    /// Removes the payload at `index` of a slot of numbers by moving the last one into its place.
    ///
    /// - Returns: The former index of the payload that was moved, which equals `index` when the
    ///   last one was removed.
    private mutating func removeNumbers(_ slot: Int, _ index: Int64, size: Int, _ ref: Ref) throws(StorageError) -> Int64 {
        var node = try payload(slot, ref)
        let last = node.count / size - 1
        try MixedNodes.require(index, below: last + 1, node)
        for offset in 0..<size where Int(index) != last {
            try node.set(Int(index) * size + offset, node.integer(last * size + offset))
        }
        node.removeIntegers(last * size..<node.count)
        try top.update(slot, node.ref)
        return Int64(last)
    }

    /// Removes the payload of a text, binary or id by moving the last one into its place; returns the former index of that one.
    private mutating func removeBytes(_ index: Int64, _ ref: Ref) throws(StorageError) -> Int64 {
        let (leaf, last) = try strings.eraseByMovingLast(Int(index), in: ref)
        try top.update(Slot.strings, leaf)
        return Int64(last)
    }

    /// Changes the word that refers to payload `old` of a slot so that it refers to `new`.
    ///
    /// - Complexity: O(number of values in the leaf).
    private mutating func patch(_ slot: Int, from old: Int64, to new: Int64) throws(StorageError) {
        for row in 0..<words.count {
            let word = words.integer(row)
            guard word >> 8 == old, MixedEntry.slot(ofWord: word) == slot else { continue }
            try words.set(row, MixedEntry.word(type: MixedEntry.type(ofWord: word), slot: slot, index: new))
            return
        }
    }
}

// MARK: - Ids of nested collections

/// Ids of nested collections, by which other programs recognize them in notifications. Source: docs/format.md, "Mixed".
extension MixedNodes {
    /// Returns the id of the collection in `row`, 0 when there is none.
    func id(_ row: Int) throws(StorageError) -> Int64 {
        guard let ref = try optionalRef(Slot.ids) else { return 0 }
        let ids = try writes.integerNode(ref)
        return row < ids.count ? ids.integer(row) : 0
    }

    /// Makes the list of ids, if there is one, as long as the leaf: other programs lose data where it is shorter.
    private mutating func completeIDs() throws(StorageError) {
        guard let ref = try optionalRef(Slot.ids) else { return }
        guard try writes.integerNode(ref).count != count else { return }
        var ids = try writes.writableIntegers(ref)
        if ids.count > count { ids.truncateIntegers(to: count) }
        while ids.count < count { try ids.append(0) }
        try top.update(Slot.ids, ids.ref)
    }

    /// Stores the id of the value in `row`: that of the entry, a new one for a collection without id, else 0.
    private mutating func setID(_ entry: MixedEntry, _ row: Int) throws(StorageError) {
        guard case .collection(_, _, let wanted) = entry else {
            if try id(row) != 0 { try storeID(0, row) }
            return
        }
        try storeID(try wanted != 0 ? wanted : unusedID(), row)
    }

    /// Stores the id of a nested collection, and makes the list of ids if there is none.
    private mutating func storeID(_ id: Int64, _ row: Int) throws(StorageError) {
        var ids: MutableNode
        if let ref = try optionalRef(Slot.ids) {
            ids = try writes.writableIntegers(ref)
        } else {
            ids = try writes.makeNode(.integers, count: count)
        }
        try ids.set(row, id)
        try top.update(Slot.ids, ids.ref)
    }

    /// Returns a random positive id that the leaf does not have. Other programs keep no more than 32 bits of it.
    private func unusedID() throws(StorageError) -> Int64 {
        var id = Int64(Int32.random(in: 1 ... .max))
        guard let ref = try optionalRef(Slot.ids) else { return id }
        let ids = try writes.integerNode(ref)
        while (0..<ids.count).contains(where: { ids.integer($0) == id }) { id = Int64(Int32.random(in: 1 ... .max)) }
        return id
    }
}
