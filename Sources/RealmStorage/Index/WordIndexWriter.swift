// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes an index of complete words: of a list of strings, or of texts through `FullTextIndexWriter`.
///
/// A word continues through subindexes to its end, so that no object has to be read. Keys of four bytes that read as the padded
/// end of a shorter word ("abcX" and "abc", zeros and null) never end a word: such a word continues to one more level, where it
/// has the end key, and the shorter one has 0. Source: docs/format.md, "Search indexes".
package struct WordIndexWriter {
    /// The writer of the nodes of one level.
    let tree: IndexTreeWriter
    /// The writer of the lists of objects.
    let lists: KeyListWriter
    /// The nodes of the transaction, committed and new.
    private let writes: WriteSpace

    /// Makes a writer of indexes of words.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - capacity: The size of index nodes; other sizes than the standard are for tests.
    package init(_ writes: WriteSpace, capacity: IndexCapacity = .standard) {
        self.writes = writes
        tree = IndexTreeWriter(writes: writes, capacity: capacity.ofNodes)
        lists = KeyListWriter(writes, capacity: capacity.ofLists)
    }

    /// Makes an index without words and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref { try tree.makeEmpty() }

    /// Files `object` under `word` (nil is null), and returns the new root. Filing it again changes nothing.
    ///
    /// - Throws: `.limit` for a tombstone, whose key cannot be stored, or a word of more than 200
    ///   bytes.
    package func insert(_ word: [UInt8]?, _ object: ObjectKey, into root: Ref) throws(StorageError) -> Ref {
        guard object.rawValue >= 0 else { throw .limit("object key \(object.rawValue) cannot be indexed") }
        return try insert(IndexData(bytes: word), object, root, offset: 0) ?? root
    }

    /// Removes `object` from under `word`, and returns the new root; nil, with nothing changed, when it is not there.
    package func erase(_ word: [UInt8]?, _ object: ObjectKey, from root: Ref) throws(StorageError) -> Ref? {
        try erase(IndexData(bytes: word), object, root, offset: 0)
    }

    /// Moves `object` from the words that it had to those that it has. Words may be repeated.
    ///
    /// - Returns: The new root; nil, with nothing changed, when the object is not filed under all
    ///   words that it had. The index is damaged then and should be built again.
    /// - Parameters:
    ///   - old: The words that the object had; nil is null.
    ///   - root: The root of the index, which must not be used any more unless nil is returned.
    package func replace(
        _ old: [[UInt8]?], by new: [[UInt8]?], _ object: ObjectKey, in root: Ref
    ) throws(StorageError) -> Ref? {
        let before = Set(old)
        let after = Set(new)
        var root = root
        let gone = before.subtracting(after)
        for word in gone {
            guard try holds(IndexData(bytes: word), object, root) else { return nil }
        }
        for word in gone {
            guard let changed = try erase(word, object, from: root) else { return nil }
            root = changed
        }
        for word in after.subtracting(before) { root = try insert(word, object, into: root) }
        return root
    }

    // MARK: - Where words end

    /// Returns whether `word` ends with its key at `offset`.
    static func ends(_ word: IndexData, at offset: Int) -> Bool {
        if offset + 4 > word.count { return true }
        return offset + 4 == word.count && !isPadded(word.key(at: offset))
    }

    /// Returns whether `key` could be that of less than four bytes.
    package static func isPadded(_ key: Int32) -> Bool {
        let bits = UInt32(bitPattern: key)
        return bits == 0 || UInt8(truncatingIfNeeded: bits >> UInt32(bits.trailingZeroBitCount & ~7)) == IndexData.endMark
    }

    /// Returns the key that the word which ends with `key` has one level below.
    private static func keyBelow(_ key: Int32) -> Int32 { isPadded(key) ? 0 : IndexData.endKey }

    /// Throws `.limit` for a word that would need too many levels.
    private static func checkDepth(_ word: IndexData, _ offset: Int) throws(StorageError) {
        guard offset < IndexData.maximumOffset else {
            throw .limit("an indexed word of \(word.count) bytes is longer than \(IndexData.maximumOffset)")
        }
    }

    // MARK: - Single changes

    /// Files an object under a word below the level at `root`; nil when nothing changes.
    private func insert(
        _ word: IndexData, _ object: ObjectKey, _ root: Ref, offset: Int
    ) throws(StorageError) -> Ref? {
        try WordIndexWriter.checkDepth(word, offset)
        let key = word.key(at: offset)
        let ends = WordIndexWriter.ends(word, at: offset)
        return try tree.update(root, key) { (slot) throws(StorageError) in
            switch slot {
            case .absent:
                if ends { return .one(object) }
                let below = try tree.makeEmpty()
                return .subindex(try insert(word, object, below, offset: offset + 4) ?? below)
            case .one(let other) where ends:
                return other == object ? nil : .list(try lists.make([min(object, other), max(object, other)]))
            case .list(let list) where ends: return try add(object, to: list)
            case .one, .list:
                let below = try tree.makeLeaf(WordIndexWriter.keyBelow(key), slot)
                return .subindex(try insert(word, object, below, offset: offset + 4) ?? below)
            case .subindex(let root): return try insert(word, object, root, offset: offset + 4).map { .subindex($0) }
            }
        }
    }

    /// Returns whether the index below `root` has `object` in the entry of `word`.
    private func holds(_ word: IndexData, _ object: ObjectKey, _ root: Ref) throws(StorageError) -> Bool {
        let index = SearchIndex(root: root, space: writes.space)
        var root = root
        for offset in stride(from: 0, through: IndexData.maximumOffset, by: 4) {
            switch try index.slot(for: word.key(at: offset), in: root) {
            case .absent: return false
            case .one(let other): return other == object
            case .list(let list): return try KeyList(list, writes.space).position(of: object) != nil
            case .subindex(let next): root = next
            }
        }
        throw SearchIndexWriter.tooDeep(root)
    }

    /// Adds an object to a list; nil when the list has it already.
    private func add(_ object: ObjectKey, to list: Ref) throws(StorageError) -> IndexSlot? {
        let keys = try KeyList(list, writes.space)
        var position = keys.count
        if try keys.key(position - 1) >= object {
            position = try keys.partition { (key) throws(StorageError) in key < object }
            if try keys.key(position) == object { return nil }
        }
        return .list(try lists.insert(object, at: position, in: list))
    }

    /// Removes an object from under a word; nil when it is not there.
    private func erase(
        _ word: IndexData, _ object: ObjectKey, _ root: Ref, offset: Int
    ) throws(StorageError) -> Ref? {
        let key = word.key(at: offset)
        return try tree.update(root, key) { (slot) throws(StorageError) in
            switch slot {
            case .absent: return nil
            case .one(let other): return other == object ? .absent : nil
            case .list(let list):
                guard let position = try KeyList(list, writes.space).position(of: object) else { return nil }
                return try lists.erase(at: position, from: list)
            case .subindex(let root):
                guard offset < IndexData.maximumOffset else { throw SearchIndexWriter.tooDeep(root) }
                guard let rest = try erase(word, object, root, offset: offset + 4) else { return nil }
                return try lifted(rest, below: key)
            }
        }
    }

    /// Returns the entry for a level that lost an object: the word that ends there needs no level when it is the only one.
    private func lifted(_ root: Ref, below key: Int32) throws(StorageError) -> IndexSlot {
        if try tree.isEmpty(root) {
            try tree.discardLevel(root)
            return .absent
        }
        guard let only = try tree.onlyEntry(root), only.key == WordIndexWriter.keyBelow(key) else { return .subindex(root) }
        if case .subindex = only.slot { return .subindex(root) }
        try tree.discardLevel(root)
        return only.slot
    }
}

// MARK: - Building

/// Building a whole index of words at once.
extension WordIndexWriter {
    /// Builds an index and returns its root.
    ///
    /// - Parameters:
    ///   - words: The objects that have each word, in any order; repetitions do no harm.
    ///   - budget: Limits the time; `.stopped` is thrown when it is used up.
    package func build(_ words: [[UInt8]?: [ObjectKey]], _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        try level(words.map { (IndexData(bytes: $0.key), Array(Set($0.value)).sorted()) }, offset: 0, budget)
    }

    /// A word with the objects that have it, ascending and distinct.
    private typealias Filed = (word: IndexData, objects: [ObjectKey])

    /// Builds a level for words that are equal up to `offset`, and returns its root.
    private func level(_ words: [Filed], offset: Int, _ budget: WorkBudget?) throws(StorageError) -> Ref {
        try budget?.spend(words.count)
        if let word = words.first?.word { try WordIndexWriter.checkDepth(word, offset) }
        var order = words.indices.map { (key: words[$0].word.key(at: offset), index: $0) }
        order.sort { $0.key < $1.key }
        var slots: [(key: Int32, slot: IndexSlot)] = []
        var start = 0
        while start < order.count {
            var end = start + 1
            while end < order.count, order[end].key == order[start].key { end += 1 }
            slots.append((order[start].key, try slot(of: order[start..<end].map { words[$0.index] }, offset, budget)))
            start = end
        }
        return try tree.pack(slots)
    }

    /// Builds the entry for words that share one key.
    private func slot(of group: [Filed], _ offset: Int, _ budget: WorkBudget?) throws(StorageError) -> IndexSlot {
        guard group.count == 1, WordIndexWriter.ends(group[0].word, at: offset) else {
            return .subindex(try level(group, offset: offset + 4, budget))
        }
        let objects = group[0].objects
        return objects.count == 1 ? .one(objects[0]) : .list(try lists.make(objects))
    }
}
