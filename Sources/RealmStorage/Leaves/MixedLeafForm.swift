// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Writes leaves of Mixed values.
///
/// It opens the nodes of a leaf for each change and stores their refs afterwards. The ids of nested collections, which other
/// programs use for notifications, move with their values. Source: docs/format.md, "Mixed".
struct MixedLeafForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace

    /// Null, which Mixed always allows.
    var defaultValue: Value { .null }

    /// Makes a leaf whose words are 0, which means null, without side arrays.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: MixedEntry.Slot.count)
        try top.set(MixedEntry.Slot.words, try writes.makeNode(.integers, count: count).ref)
        return top.ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let top = try writes.node(at: leaf)
        return try writes.integerNode(try top.requiredRef(MixedEntry.Slot.words, "mixed words")).count
    }

    /// Inserts a value; a nested collection without an id gets a random one.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let entry = try entry(value)
        var nodes = try MixedNodes(writes, leaf)
        try nodes.insert(entry, at: row)
        return try nodes.finish()
    }

    /// Replaces a value; a collection nested in the old one is not discarded.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let entry = try entry(value)
        var nodes = try MixedNodes(writes, leaf)
        try nodes.set(entry, at: row)
        return try nodes.finish()
    }

    /// Removes the value in `row` with its payload and id. A collection nested in it is not discarded.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var nodes = try MixedNodes(writes, leaf)
        try nodes.erase(row)
        return try nodes.finish()
    }

    /// Stores the new root of the collection in `row`, whose id stays; returns the new ref of the leaf.
    func setRoot(_ root: Ref, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var nodes = try MixedNodes(writes, leaf)
        try nodes.setRoot(root, at: row)
        return try nodes.finish()
    }

    /// Moves the values from `row` on, with their payloads and the ids of nested collections, to a new leaf.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var head = try MixedNodes(writes, leaf)
        guard row >= 0, row <= head.count else { throw .corrupt(ref: leaf, reason: "row \(row) of a leaf of \(head.count)") }
        var tail = try MixedNodes(writes, try makeDefaults(count: 0))
        for index in row..<head.count {
            try tail.insert(try head.entryWithID(index), at: index - row)
        }
        for index in stride(from: head.count - 1, through: row, by: -1) { try head.erase(index) }
        return (try head.finish(), try tail.finish())
    }

    /// Appends the values of `next` with their payloads and the ids of nested collections, and discards its nodes.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var head = try MixedNodes(writes, leaf)
        var tail = try MixedNodes(writes, next)
        for index in 0..<tail.count { try head.insert(try tail.entryWithID(index), at: head.count) }
        try tail.discardShallow()
        return try head.finish()
    }

    /// Splits a value into its stored parts; throws `.limit` for a value that cannot be stored.
    private func entry(_ value: Value) throws(StorageError) -> MixedEntry {
        let entry = try MixedEntry(value)
        if case .bytes(_, let bytes) = entry { try BlobNodes(writes: writes, isText: true).requireFit(bytes) }
        return entry
    }
}

/// Access to collections that are nested in Mixed values.
extension LeafWriter {
    /// Stores the new root of the collection that is nested in `row` of a Mixed leaf; its id stays.
    ///
    /// - Returns: The new ref of the leaf.
    /// - Throws: `.corrupt` when the value in `row` is not a collection.
    package func setNestedRoot(_ root: Ref, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try MixedLeafForm(writes: writes).setRoot(root, at: row, in: leaf)
    }

    /// Returns the root of the collection that is nested in `row` of a Mixed leaf, or nil when the value is of another kind.
    ///
    /// - Throws: `.corrupt` for a row outside the leaf or a payload that does not exist.
    package func nestedRoot(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref? {
        let top = try writes.node(at: leaf)
        let words = try writes.integerNode(try top.requiredRef(MixedEntry.Slot.words, "mixed words"))
        try words.requireRow(row)
        guard case .collection(_, let root, _) = try MixedNodes.entry(row, word: words.integer(row), of: top, writes) else {
            return nil
        }
        return root
    }
}
