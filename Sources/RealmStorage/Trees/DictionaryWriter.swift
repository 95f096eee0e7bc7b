// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes dictionaries with text keys, those of properties and those nested in Mixed.
///
/// A dictionary is a node of two refs: a B+ tree of distinct keys in ascending order, and one of as many values, which are
/// Mixed whatever the type of the property. `Ref.none` is empty. The caller decides which keys are allowed. A file that was
/// upgraded from an older format may have keys in another order; such a dictionary is sorted when it is changed for the first
/// time. Source: docs/format.md, "Dictionaries".
package struct DictionaryWriter {
    /// The nodes of the transaction, committed and new.
    private let writes: WriteSpace
    private let keys: BPlusTreeWriter
    private let values: BPlusTreeWriter

    /// The type of keys: texts that are never null.
    private static let keyShape = ElementShape(type: .string, isNullable: false)

    /// Makes a writer of dictionaries. Smaller capacities than the format's 1000 are for tests.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - leafCapacity: How many elements a full leaf has.
    ///   - fanOut: How many children a full inner node has.
    package init(_ writes: WriteSpace, leafCapacity: Int = 1000, fanOut: Int = 1000) {
        self.writes = writes
        keys = BPlusTreeWriter(writes, DictionaryWriter.keyShape, leafCapacity: leafCapacity, fanOut: fanOut)
        values = BPlusTreeWriter(writes, .mixed, leafCapacity: leafCapacity, fanOut: fanOut)
    }

    // MARK: - Reading

    /// An entry as it is stored; its bytes are valid until the dictionary changes.
    package struct Entry {
        package let keyBytes: ByteView
        /// The value; an unresolved link is as it is stored.
        package let value: Value

        /// The key as text; bytes that are not UTF-8 are replaced by U+FFFD.
        package var key: String { keyBytes.string }
    }

    /// Returns all entries in stored order.
    ///
    /// They are read into memory as a whole; for reading dictionaries of unbounded length use a cursor.
    ///
    /// - Throws: `.corrupt` for a damaged dictionary.
    package func entries(_ root: Ref) throws(StorageError) -> [Entry] {
        guard !root.isNone else { return [] }
        let parts = try parts(root)
        let names = try keyBytes(parts.keys)
        var entries: [Entry] = []
        entries.reserveCapacity(names.count)
        var cursor = try values.tree(parts.values).leaves()
        while let (leaf, start) = try cursor.next() {
            for row in 0..<leaf.count {
                guard start + row < names.count else { break }
                entries.append(Entry(keyBytes: names[start + row], value: try leaf.storedValue(row)))
            }
        }
        guard entries.count == names.count else {
            throw .corrupt(ref: root, reason: "\(names.count) dictionary keys with \(entries.count) values")
        }
        return entries
    }

    /// Returns the position of the entry with `key`, or nil when there is none.
    ///
    /// - Complexity: O(log n); O(n) for a key that is not found in a dictionary that this
    ///   transaction has not changed, as its keys may be unsorted.
    package func position(of key: ByteView, in root: Ref) throws(StorageError) -> Int? {
        guard !root.isNone else { return nil }
        let keyRoot = try parts(root).keys
        let place = try place(of: key, in: keyRoot)
        if place.isPresent { return place.index }
        // Keys may be in another order only in trees that this transaction has not changed.
        guard !WriteSpace.isNew(keyRoot) else { return nil }
        let scanned = try OrderedSearch(try keys.tree(keyRoot)).scan(DictionaryWriter.order(key))
        return scanned.isPresent ? scanned.index : nil
    }

    /// Returns the position of the entry with `key`, or nil when there is none; for keys that are a Swift string.
    package func position(of key: String, in root: Ref) throws(StorageError) -> Int? {
        let bytes = ByteStorage(key)
        defer { withExtendedLifetime(bytes) {} }
        return try position(of: bytes.view, in: root)
    }

    // MARK: - Changing

    /// The result of setting a value: the dictionary, and the place of the entry in it.
    package struct Change {
        /// The root of the dictionary after the change.
        package let root: Ref
        /// The position of the entry in the order of keys.
        package let index: Int
        /// Whether the entry was added; false when it existed before.
        package let isNew: Bool
    }

    /// Sets the value under a key; a collection nested in the old value is discarded.
    ///
    /// An entry keeps its place when its value changes.
    ///
    /// - Parameters:
    ///   - key: The bytes of the key, which must not lie in the dictionary's own leaves.
    ///   - root: The root, or `Ref.none`; it must not be used any more.
    /// - Throws: `.limit` for a key or value that cannot be stored.
    package func set(_ key: ByteView, _ value: Value, in root: Ref) throws(StorageError) -> Change {
        let root = try root.isNone ? makeEmpty() : sorted(root)
        var parts = try parts(root)
        let place = try place(of: key, in: parts.keys)
        if place.isPresent {
            parts.values = try values.set(value, at: place.index, in: parts.values)
        } else {
            parts.keys = try keys.insert(.string(key), at: place.index, in: parts.keys)
            parts.values = try values.insert(value, at: place.index, in: parts.values)
        }
        return Change(root: try replace(parts, in: root), index: place.index, isNew: !place.isPresent)
    }

    /// Sets the value under a key that is a Swift string; a collection nested in the old value is discarded.
    package func set(_ key: String, _ value: Value, in root: Ref) throws(StorageError) -> Change {
        let bytes = ByteStorage(key)
        defer { withExtendedLifetime(bytes) {} }
        return try set(bytes.view, value, in: root)
    }

    /// Removes the entry at `index` and returns the new root; a collection nested in its value is discarded.
    ///
    /// - Throws: `.corrupt` when there is no such entry.
    package func erase(at index: Int, in root: Ref) throws(StorageError) -> Ref {
        var parts = try parts(root)
        let isSorted = try areSorted(parts.keys)
        parts.keys = try keys.erase(at: index, in: parts.keys)
        parts.values = try values.erase(at: index, in: parts.values)
        let new = try replace(parts, in: root)
        return isSorted ? new : try rebuilt(new)
    }

    /// Makes a dictionary without entries that is not `Ref.none`, and returns its root.
    package func makeEmpty() throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: 2)
        try top.set(0, try keys.makeEmpty())
        try top.set(1, try values.makeEmpty())
        return top.ref
    }

    // MARK: - Parts

    /// The two trees of a dictionary.
    private struct Parts {
        /// The root of the tree of keys.
        var keys: Ref
        /// The root of the tree of values.
        var values: Ref
    }

    /// Returns the two trees of a dictionary.
    ///
    /// - Throws: `.corrupt` unless they have the same length.
    private func parts(_ root: Ref) throws(StorageError) -> Parts {
        let node = try writes.node(at: root)
        try DictionaryView.requireShape(node)
        let parts = Parts(
            keys: try node.optionalRef(0, "dictionary keys"), values: try node.optionalRef(1, "dictionary values"))
        // Nodes of this transaction have trees of equal length.
        guard try WriteSpace.isNew(root) ? true : keys.count(parts.keys) == values.count(parts.values) else {
            throw node.corrupt("dictionary keys and values differ in number")
        }
        return parts
    }

    /// Stores the roots of the two trees in the root of the dictionary, and returns its new ref.
    private func replace(_ parts: Parts, in root: Ref) throws(StorageError) -> Ref {
        var top = try writes.writable(root)
        if top.ref(0) != parts.keys { try top.set(0, parts.keys) }
        if top.ref(1) != parts.values { try top.set(1, parts.values) }
        return top.ref
    }

    /// Returns the place where a key is, or where it would be inserted, assuming that keys ascend.
    private func place(of key: ByteView, in keyRoot: Ref) throws(StorageError) -> OrderedSearch.Place {
        var search = OrderedSearch(try keys.tree(keyRoot))
        return try search.find(DictionaryWriter.order(key))
    }

    /// Returns a comparison of the key of an entry with `key`: negative when the entry sorts before it, 0 when they are equal.
    private static func order(_ key: ByteView) -> (_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> Int {
        { leaf, row throws(StorageError) in try bytes(leaf, row).compare(key) }
    }

    /// Returns the bytes of the key in `row`; throws `.corrupt` when it is not a text.
    private static func bytes(_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> ByteView {
        guard case .string(let strings) = leaf, let bytes = try strings.string(row) else {
            throw .corrupt(ref: .none, reason: "a dictionary key is not text")
        }
        return bytes
    }

    /// Returns all keys in stored order.
    private func keyBytes(_ keyRoot: Ref) throws(StorageError) -> [ByteView] {
        var found: [ByteView] = []
        var cursor = try keys.tree(keyRoot).leaves()
        while let (leaf, _) = try cursor.next() {
            for row in 0..<leaf.count { found.append(try DictionaryWriter.bytes(leaf, row)) }
        }
        return found
    }
}

// MARK: - Order

/// Sorting of dictionaries that older formats left in another order.
extension DictionaryWriter {
    /// Returns whether the keys of a dictionary ascend.
    func isSorted(_ root: Ref) throws(StorageError) -> Bool {
        if root.isNone { return true }
        return try areSorted(try parts(root).keys)
    }

    /// Returns whether the keys of a tree ascend. A tree that this transaction changed is sorted, so it is not read.
    private func areSorted(_ keyRoot: Ref) throws(StorageError) -> Bool {
        guard !WriteSpace.isNew(keyRoot) else { return true }
        var previous: ByteView?
        var cursor = try keys.tree(keyRoot).leaves()
        while let (leaf, _) = try cursor.next() {
            for row in 0..<leaf.count {
                let bytes = try DictionaryWriter.bytes(leaf, row)
                if let previous, bytes < previous { return false }
                previous = bytes
            }
        }
        return true
    }

    /// Returns the dictionary, rebuilt in the order of its keys if they do not ascend.
    private func sorted(_ root: Ref) throws(StorageError) -> Ref {
        try isSorted(root) ? root : rebuilt(root)
    }

    /// Rebuilds the dictionary with ascending keys, and returns its new root. Nested collections are moved, not copied.
    private func rebuilt(_ root: Ref) throws(StorageError) -> Ref {
        var old = try parts(root)
        var new = Parts(keys: .none, values: .none)
        for entry in try entries(root).sorted(by: { $0.keyBytes < $1.keyBytes }) {
            new.keys = try keys.append(.string(entry.keyBytes), to: new.keys)
            new.values = try values.append(entry.value, to: new.values)
        }
        for index in 0..<(try values.count(old.values)) {
            old.values = try values.update(at: index, in: old.values) { (leaf, row) throws(StorageError) in
                guard try values.leaves.nestedRoot(row, in: leaf) != nil else { return leaf }
                return try values.leaves.setNestedRoot(.none, at: row, in: leaf)
            }
        }
        try writes.discardTree(old.keys)
        try writes.discardTree(old.values)
        return try replace(new, in: root)
    }
}
