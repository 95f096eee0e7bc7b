// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes a general search index: from a value to the objects that hold it, with one value per object.
///
/// The index stores as little of a value as distinguishes it from the others, so a change may have to read the values of other
/// objects. Remove an object under its old value before the stored value changes, and insert it under the new one afterwards;
/// no other object may be between two values meanwhile. The shape is the same whatever the order of changes was, except for the
/// division into nodes, for lists below the last level, and for lists in the order of older formats, which stay in that order.
/// Source: docs/format.md, "Search indexes".
package final class SearchIndexWriter {
    /// A function that returns the present value of an object that the index holds.
    package typealias ValueSource = (ObjectKey) throws(StorageError) -> Value

    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// The writer of the nodes of one level.
    let tree: IndexTreeWriter
    /// The writer of the lists of objects.
    let lists: KeyListWriter
    /// Whether the column holds Mixed, in which different values may have the same data, and equal values different data.
    let isMixed: Bool
    /// Returns the present value of an object that the index has already.
    let valueOf: ValueSource
    /// The lists of different values that are known to ascend.
    private var ascending = AscendingLists()

    /// Makes a writer of general indexes.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - isMixed: Whether the column holds Mixed.
    ///   - capacity: The size of index nodes; other sizes than the standard are for tests.
    ///   - valueOf: Returns the present value of an object that the index has already.
    package init(
        _ writes: WriteSpace, isMixed: Bool, capacity: IndexCapacity = .standard, valueOf: @escaping ValueSource
    ) {
        self.writes = writes
        tree = IndexTreeWriter(writes: writes, capacity: capacity.ofNodes)
        lists = KeyListWriter(writes, capacity: capacity.ofLists)
        self.isMixed = isMixed
        self.valueOf = valueOf
    }

    /// Makes an index without entries and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref { try tree.makeEmpty() }

    // MARK: - Inserting

    /// Adds `object` under `value`, and returns the new root. Adding it a second time changes nothing.
    ///
    /// - Throws: `.limit` for a tombstone, whose key cannot be stored; `.corrupt` for an index that
    ///   contradicts the values it was built from.
    /// - Parameters:
    ///   - root: The root of the index, which must not be used any more.
    package func insert(_ value: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        guard object.rawValue >= 0 else { throw .limit("object key \(object.rawValue) cannot be indexed") }
        return try insert(Entry(value, object), root, offset: 0) ?? root
    }

    /// An object with its value while it is added to the index.
    struct Entry {
        /// The value of the indexed property.
        let value: Value
        /// The bytes that the value is filed under.
        let data: IndexData
        /// The object whose property has the value.
        let object: ObjectKey

        /// Makes an entry, and computes the data of the value.
        init(_ value: Value, _ object: ObjectKey) {
            self.value = value
            self.object = object
            data = IndexData(value)
        }

        /// Returns a negative number, zero or a positive number when this entry comes before, with or after `other` in a list.
        func order(_ other: Entry) -> Int {
            let order = Value.order(value, other.value)
            return order != 0 ? order : object < other.object ? -1 : other.object < object ? 1 : 0
        }
    }

    /// Adds an entry below the level at `root`, whose keys are those of the data at `offset`; nil when nothing changes.
    private func insert(_ entry: Entry, _ root: Ref, offset: Int) throws(StorageError) -> Ref? {
        try tree.update(root, entry.data.key(at: offset)) { (slot) throws(StorageError) in
            try change(slot, adding: entry, offset)
        }
    }

    /// Returns the entry for what is filed under a key together with a new entry.
    func insert(_ entry: Entry, at slot: IndexSlot, _ offset: Int) throws(StorageError) -> IndexSlot {
        try change(slot, adding: entry, offset) ?? slot
    }

    /// Returns the entry for what is filed under a key together with a new entry; nil when nothing changes.
    private func change(_ slot: IndexSlot, adding entry: Entry, _ offset: Int) throws(StorageError) -> IndexSlot? {
        switch slot {
        case .absent: return .one(entry.object)
        case .one(let other): return other == entry.object ? nil : try join(entry, other, offset)
        case .list(let list): return try insert(entry, list: list, offset)
        case .subindex(let root):
            guard offset < IndexData.maximumOffset else { throw SearchIndexWriter.tooDeep(root) }
            return try insert(entry, root, offset: offset + 4).map { .subindex($0) }
        }
    }

    /// Makes the error for an index that has a level below the last one.
    static func tooDeep(_ ref: Ref) -> StorageError { .corrupt(ref: ref, reason: "an index below its last level") }

    /// Returns an object that the index has already, with its present value.
    private func stored(_ object: ObjectKey) throws(StorageError) -> Entry { Entry(try valueOf(object), object) }

    /// Returns whether two entries that share the key at `offset` need another level: their data differ, and the last level is
    /// not reached.
    private func opensLevel(_ entry: Entry, _ other: Entry, _ offset: Int) -> Bool {
        offset < IndexData.maximumOffset && entry.data != other.data
    }

    /// Combines a new entry with the single object that is filed under the same key, into a list or another level.
    private func join(_ entry: Entry, _ object: ObjectKey, _ offset: Int) throws(StorageError) -> IndexSlot {
        let other = try stored(object)
        guard opensLevel(entry, other, offset) else {
            return .list(try lists.make(entry.order(other) < 0 ? [entry.object, object] : [object, entry.object]))
        }
        let root = try tree.makeLeaf(other.data.key(at: offset + 4), .one(object))
        return try insert(entry, root, offset: offset + 4).map { .subindex($0) } ?? .subindex(root)
    }

    /// Adds an entry to the list that is filed under its key, or moves that list to another level; nil when nothing changes.
    private func insert(_ entry: Entry, list: Ref, _ offset: Int) throws(StorageError) -> IndexSlot? {
        let keys = try KeyList(list, writes.space)
        let first = try stored(try keys.key(0))
        guard opensLevel(entry, first, offset) else {
            guard let position = try place(of: entry, in: keys, first, offset) else { return nil }
            return .list(try lists.insert(entry.object, at: position, in: list))
        }
        let root = try pushDown(list, keys, first, offset: offset + 4)
        return .subindex(try insert(entry, root, offset: offset + 4) ?? root)
    }

    /// Returns the position of `entry` in a list; nil when the list has its object already.
    private func place(
        of entry: Entry, in keys: KeyList, _ first: Entry, _ offset: Int
    ) throws(StorageError) -> Int? {
        let last = try keys.key(keys.count - 1)
        let position: Int
        if try !holdsOneValue(entry, first: first, last: last, offset: offset) {
            position = try placeAmongValues(entry, in: keys)
        } else if last < entry.object {
            return keys.count
        } else {
            position = try keys.partition { (key) throws(StorageError) in key < entry.object }
        }
        guard position < keys.count else { return position }
        return try keys.key(position) == entry.object ? nil : position
    }

    /// Returns the position of `entry` in a list of different values: in order among equal ones, else before the first greater one.
    ///
    /// Only equal values are neighbours in every list. A list that was made in format 23 or older is in the order that texts had
    /// then, so the position found by bisection is right only next to an equal value, or in a list that is known to ascend.
    private func placeAmongValues(_ entry: Entry, in keys: KeyList) throws(StorageError) -> Int {
        let place = try keys.partition { (key) throws(StorageError) in try stored(key).order(entry) < 0 }
        for index in [place - 1, place] where index >= 0 && index < keys.count {
            if Value.order(try valueOf(try keys.key(index)), entry.value) == 0 { return place }
        }
        if ascending.contains(entry.data, writes) { return place }
        let (position, isAscending) = try walk(keys, to: entry)
        if isAscending { ascending.insert(entry.data, writes) }
        return position
    }

    /// Returns the position of `entry` in a list in any order, and whether the list ascends.
    ///
    /// - Complexity: O(n) values are read, as the reference engine does for each look-up.
    private func walk(_ keys: KeyList, to entry: Entry) throws(StorageError) -> (position: Int, isAscending: Bool) {
        var equal: Int?
        var greater: Int?
        var isAscending = true
        var last: Value?
        for (index, key) in try keys.all().enumerated() {
            let value = try valueOf(key)
            if let last, Value.order(last, value) > 0 { isAscending = false }
            last = value
            let order = Value.order(value, entry.value)
            if order == 0, equal == nil || equal == index { equal = key < entry.object ? index + 1 : index }
            if order > 0, greater == nil { greater = index }
        }
        return (equal ?? greater ?? keys.count, isAscending)
    }

    /// Returns whether all values of a list, in which equal ones are neighbours, are equal to that of `entry`.
    private func holdsOneValue(
        _ entry: Entry, first: Entry, last: ObjectKey, offset: Int
    ) throws(StorageError) -> Bool {
        if !isMixed, offset < IndexData.maximumOffset { return true }
        guard Value.order(first.value, entry.value) == 0 else { return false }
        return Value.order(try valueOf(last), entry.value) == 0
    }

    /// Moves a list to a level of its own, and returns the level's root. Lists of numbers in Mixed
    /// may have values with different data, which are separated.
    private func pushDown(_ list: Ref, _ keys: KeyList, _ first: Entry, offset: Int) throws(StorageError) -> Ref {
        if isMixed, first.value.isNumber {
            var entries: [Entry] = []
            for key in try keys.all() { entries.append(try stored(key)) }
            if !entries.allSatisfy({ $0.data == first.data }) {
                try writes.discardTree(list)
                return try level(&entries, offset: offset)
            }
        }
        return try tree.makeLeaf(first.data.key(at: offset), .list(list))
    }

    // MARK: - Erasing

    /// Removes `object` from under `value`.
    ///
    /// - Returns: The new root; nil when the object is not where its value implies. Nothing is
    ///   changed then; the index is damaged and should be built again.
    /// - Parameters:
    ///   - value: The value under which the object was filed.
    ///   - root: The root of the index, which must not be used any more unless nil is returned.
    package func erase(_ value: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        try erase(IndexData(value), object, root, offset: 0)
    }

    /// Removes an object from the level at `root`; nil when it is not there.
    private func erase(
        _ data: IndexData, _ object: ObjectKey, _ root: Ref, offset: Int
    ) throws(StorageError) -> Ref? {
        try tree.update(root, data.key(at: offset)) { (slot) throws(StorageError) in
            switch slot {
            case .absent: return nil
            case .one(let other): return other == object ? .absent : nil
            case .list(let list):
                guard let position = try KeyList(list, writes.space).position(of: object) else { return nil }
                return try lists.erase(at: position, from: list)
            case .subindex(let root):
                guard offset < IndexData.maximumOffset else { throw SearchIndexWriter.tooDeep(root) }
                guard let rest = try erase(data, object, root, offset: offset + 4) else { return nil }
                return try lifted(rest, offset: offset + 4)
            }
        }
    }

    /// Returns the entry for a level that lost an object: what remains of one value is stored without a level of its own.
    private func lifted(_ root: Ref, offset: Int) throws(StorageError) -> IndexSlot {
        let isEmpty = try tree.isEmpty(root)
        guard let only = isEmpty ? (0, .absent) : try tree.onlyEntry(root) else { return .subindex(root) }
        switch only.slot {
        case .subindex: return .subindex(root)
        // Lists of the last level may have different values, so they must stay in that level.
        case .list where offset >= IndexData.maximumOffset: return .subindex(root)
        case .absent, .one, .list:
            try tree.discardLevel(root)
            return only.slot
        }
    }
}

/// The lists of a search index that are known to ascend by value, in one transaction.
///
/// Inserting into an ascending list keeps it ascending. To check that takes a walk over all values, so bulk writes need this.
/// Lists are known by the bytes of the data that leads to them: their refs change, and are used again.
struct AscendingLists {
    /// The maximum number of remembered lists; beyond it all are forgotten.
    private static let maximumCount = 1024

    /// The bytes that distinguish the lists.
    private var known: Set<[UInt8]> = []
    /// How many times the transaction had been rolled back when the lists were last used. A list may ascend only because of a change
    /// that was undone.
    private var rollBackCount = 0

    /// Returns whether the list that `data` leads to is known to ascend.
    mutating func contains(_ data: IndexData, _ writes: WriteSpace) -> Bool {
        if rollBackCount != writes.rollBackCount { known = [] }
        rollBackCount = writes.rollBackCount
        return !known.isEmpty && known.contains(AscendingLists.path(data))
    }

    /// Remembers that the list of `data` ascends, now and after all later changes of this transaction.
    mutating func insert(_ data: IndexData, _ writes: WriteSpace) {
        if rollBackCount != writes.rollBackCount || known.count >= AscendingLists.maximumCount { known = [] }
        rollBackCount = writes.rollBackCount
        known.insert(AscendingLists.path(data))
    }

    /// Returns the bytes that an index distinguishes.
    private static func path(_ data: IndexData) -> [UInt8] { data.prefix(IndexData.maximumOffset + 4) }
}
