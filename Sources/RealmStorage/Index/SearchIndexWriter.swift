// SPDX-License-Identifier: Apache-2.0

/// Changes a general search index: from a value to the objects that hold it, one value an object.
///
/// The index stores as little of a value as distinguishes it from the others, so a change may have to look at the values of
/// other objects. Erase an object under its old value before the stored value changes, and insert it under the new one
/// after; no other object may be between two values meanwhile. The shape is the same whatever the history, but for the
/// cut into nodes and for lists below the last level. Source: docs/format.md, "Search indexes".
package final class SearchIndexWriter {
    /// The present value of an object that the index holds.
    package typealias ValueSource = (ObjectKey) throws(StorageError) -> Value

    /// Where the nodes of the transaction are.
    let writes: WriteSpace
    /// Changes the nodes of one level.
    let tree: IndexTreeWriter
    /// Changes the lists of objects.
    let lists: KeyListWriter
    /// In a column of Mixed different values may have the same data, and equal values different data.
    let isMixed: Bool
    /// Tells the present value of an object that is filed already.
    let valueOf: ValueSource

    /// A writer of indexes of single values.
    package init(
        _ writes: WriteSpace, isMixed: Bool, capacity: IndexCapacity = .standard, valueOf: @escaping ValueSource
    ) {
        self.writes = writes
        tree = IndexTreeWriter(writes: writes, capacity: capacity.ofNodes)
        lists = KeyListWriter(writes, capacity: capacity.ofLists)
        self.isMixed = isMixed
        self.valueOf = valueOf
    }

    /// An index of nothing.
    package func makeEmpty() throws(StorageError) -> Ref { try tree.makeEmpty() }

    // MARK: - Inserting

    /// Files `object` under `value`; returns the new root. An object that is there already stays there once.
    ///
    /// The object must not be filed yet. Throws `.corrupt` for an index that contradicts the values it was built from.
    package func insert(_ value: Value, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        guard object.rawValue >= 0 else { throw .limit("object key \(object.rawValue) cannot be indexed") }
        return try insert(Entry(value, object), root, offset: 0) ?? root
    }

    /// A value on its way into the index.
    struct Entry {
        /// The value that is filed.
        let value: Value
        /// The bytes that it is filed under.
        let data: IndexData
        /// The object that holds it.
        let object: ObjectKey

        /// An object with its value.
        init(_ value: Value, _ object: ObjectKey) {
            self.value = value
            self.object = object
            data = IndexData(value)
        }

        /// Negative, zero or positive as this entry comes before, with or after `other` in a list.
        func order(_ other: Entry) -> Int {
            let order = Value.order(value, other.value)
            return order != 0 ? order : object < other.object ? -1 : other.object < object ? 1 : 0
        }
    }

    /// Files an entry below the level at `root`; nil when nothing changes.
    private func insert(_ entry: Entry, _ root: Ref, offset: Int) throws(StorageError) -> Ref? {
        try tree.update(root, entry.data.key(at: offset)) { (slot) throws(StorageError) in
            switch slot {
            case .absent: return .one(entry.object)
            case .one(let other): return other == entry.object ? nil : try join(entry, other, offset)
            case .list(let list): return try insert(entry, list: list, offset)
            case .subindex(let root):
                guard offset < IndexData.maximumOffset else { throw SearchIndexWriter.tooDeep(root) }
                return try insert(entry, root, offset: offset + 4).map { .subindex($0) }
            }
        }
    }

    /// What is wrong with an index that goes on below its last level.
    static func tooDeep(_ ref: Ref) -> StorageError { .corrupt(ref: ref, reason: "an index below its last level") }

    /// An object that is filed already, with its value.
    private func stored(_ object: ObjectKey) throws(StorageError) -> Entry { Entry(try valueOf(object), object) }

    /// Does an entry of another value make a level of its own at `offset`?
    private func opensLevel(_ entry: Entry, _ other: Entry, _ offset: Int) -> Bool {
        offset < IndexData.maximumOffset && entry.data != other.data
    }

    /// What becomes of two objects that are filed under one key.
    private func join(_ entry: Entry, _ object: ObjectKey, _ offset: Int) throws(StorageError) -> IndexSlot {
        let other = try stored(object)
        guard opensLevel(entry, other, offset) else {
            return .list(try lists.make(entry.order(other) < 0 ? [entry.object, object] : [object, entry.object]))
        }
        let root = try tree.makeLeaf(other.data.key(at: offset + 4), .one(object))
        return try insert(entry, root, offset: offset + 4).map { .subindex($0) } ?? .subindex(root)
    }

    /// Files an entry in a list.
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

    /// Where `entry` belongs in a list; nil when its object is there.
    private func place(
        of entry: Entry, in keys: KeyList, _ first: Entry, _ offset: Int
    ) throws(StorageError) -> Int? {
        let last = try keys.key(keys.count - 1)
        let position: Int
        if try !holdsOneValue(entry, first: first, last: last, offset: offset) {
            position = try keys.partition { (key) throws(StorageError) in try stored(key).order(entry) < 0 }
        } else if last < entry.object {
            return keys.count
        } else {
            position = try keys.partition { (key) throws(StorageError) in key < entry.object }
        }
        guard position < keys.count else { return position }
        return try keys.key(position) == entry.object ? nil : position
    }

    /// Are all values of a list, which is ordered by value, equal to that of `entry`?
    private func holdsOneValue(
        _ entry: Entry, first: Entry, last: ObjectKey, offset: Int
    ) throws(StorageError) -> Bool {
        if !isMixed, offset < IndexData.maximumOffset { return true }
        guard Value.order(first.value, entry.value) == 0 else { return false }
        return Value.order(try valueOf(last), entry.value) == 0
    }

    /// Moves a list into a level of its own. Lists of numbers in Mixed may have been made of values with different data.
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

    /// Takes `object` from under `value`; returns the new root, or nil when the object is not where its value says.
    /// In that case nothing is changed, the index is damaged and should be built anew.
    package func erase(_ value: Value, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        try erase(IndexData(value), object, root, offset: 0)
    }

    /// Takes an object out of the level at `root`; nil when it is not there.
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

    /// A level as the slot above it: what one value leaves needs no level of its own.
    private func lifted(_ root: Ref, offset: Int) throws(StorageError) -> IndexSlot {
        let isEmpty = try tree.isEmpty(root)
        guard let only = isEmpty ? (0, .absent) : try tree.onlyEntry(root) else { return .subindex(root) }
        switch only.slot {
        case .subindex: return .subindex(root)
        // Values of a list of the last level may be different; such lists belong there only.
        case .list where offset >= IndexData.maximumOffset: return .subindex(root)
        case .absent, .one, .list:
            try tree.discardLevel(root)
            return only.slot
        }
    }
}
