// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A dictionary, read in place: of a property or nested in Mixed.
///
/// It is a node of two refs: a B+ tree of distinct keys in ascending order, and one of as many values, which are mixed leaves
/// whatever the type of the property. Formats 21 and 22 store entries in a cluster tree under hashed keys instead; those are
/// read as a whole and shown sorted. A value of this type borrows from its snapshot. Source: docs/format.md, "Dictionaries".
package struct DictionaryView: Sendable {
    /// How the entries are stored.
    private enum Form: Sendable {
        /// The form of format 23 and later: two trees of equal length.
        case trees(keys: BPlusTree, values: BPlusTree)
        /// The entries of the older form, read into memory and sorted by key.
        case entries([Entry])
    }

    /// An entry of a dictionary: a key with its value.
    package struct Entry: Sendable {
        /// The key of the entry.
        package let key: DictionaryKey
        /// The value of the entry; an unresolved link reads as null.
        package let value: Value
    }

    /// How the entries of this dictionary are stored.
    private let form: Form
    /// How many entries the dictionary has.
    package let count: Int

    /// Makes a view of a dictionary from its root.
    ///
    /// - Parameters:
    ///   - root: The root, or `Ref.none` for an empty dictionary.
    ///   - keyType: The type of the keys, `.string` or `.int`.
    ///   - fileFormat: The format version of the file; below 23 the older form is recognized.
    /// - Throws: `.corrupt` for a damaged root, or when keys and values differ in number.
    package init(
        root: Ref, space: NodeSpace, keyType: ColumnType = .string, fileFormat: Int = 24
    ) throws(StorageError) {
        guard !root.isNone else {
            form = .entries([])
            count = 0
            return
        }
        let node = try space.node(at: root)
        if DictionaryView.isHistoric(node, fileFormat: fileFormat) {
            let entries = try DictionaryView.historicEntries(root, space)
            form = .entries(entries)
            count = entries.count
            return
        }
        try DictionaryView.requireShape(node)
        let keys = try BPlusTree(
            root: try node.optionalRef(0, "dictionary keys"), space: space,
            shape: ElementShape(type: keyType == .int ? .int : .string, isNullable: false))
        let values = try BPlusTree(root: try node.optionalRef(1, "dictionary values"), space: space, shape: .mixed)
        guard keys.count == values.count else {
            throw node.corrupt("\(keys.count) dictionary keys with \(values.count) values")
        }
        form = .trees(keys: keys, values: values)
        count = keys.count
    }

    /// Checks that `node` has the two slots of a dictionary, keys and values, and throws `.corrupt` otherwise.
    package static func requireShape(_ node: Node) throws(StorageError) {
        guard node.hasRefs, !node.isInner, node.count == 2 else { throw node.corrupt("a dictionary is a node of two refs") }
    }

    /// Whether the dictionary has no entries.
    package var isEmpty: Bool { count == 0 }

    /// The tree of keys; nil in the form of formats 21 and 22.
    package var keyTree: BPlusTree? {
        if case .trees(let keys, _) = form { return keys }
        return nil
    }

    /// The tree of values; nil in the form of formats 21 and 22.
    package var valueTree: BPlusTree? {
        if case .trees(_, let values) = form { return values }
        return nil
    }

    /// Returns the key of entry `index`, which must be in `0..<count`.
    ///
    /// - Throws: `.corrupt` for a damaged tree, or a key that is null.
    package func key(at index: Int) throws(StorageError) -> DictionaryKey {
        switch form {
        case .entries(let entries): return entries[index].key
        case .trees(let keys, _): return try DictionaryKey(try keys.value(at: index), keys.root)
        }
    }

    /// Returns the value of entry `index`, which must be in `0..<count`; an unresolved link reads as null.
    package func value(at index: Int) throws(StorageError) -> Value {
        switch form {
        case .entries(let entries): return entries[index].value
        case .trees(_, let values): return try values.value(at: index)
        }
    }

    /// Returns the value for a text key, or nil when the dictionary does not have it.
    ///
    /// Keys are scanned, because an upgraded file may have them unsorted. An integer key is never found.
    ///
    /// - Complexity: O(n).
    package func find(_ wanted: ByteView) throws(StorageError) -> Value? {
        switch form {
        case .entries(let entries): return entries.first { $0.key.bytes == wanted }?.value
        case .trees(let keys, let values):
            guard let index = try DictionaryView.index(of: wanted, in: keys) else { return nil }
            return try values.value(at: index)
        }
    }

    /// Returns the position of a text key; nil when the tree does not have it. All keys before it are read.
    private static func index(of wanted: ByteView, in keys: BPlusTree) throws(StorageError) -> Int? {
        var cursor = keys.leaves()
        while let (leaf, start) = try cursor.next() {
            guard case .string(let strings) = leaf else { return nil }
            for row in 0..<strings.count where try strings.string(row) == wanted { return start + row }
        }
        return nil
    }

    /// Returns a cursor over the entries in stored order.
    ///
    /// - Parameter budget: The nodes that may be visited in a walk that continues into nested
    ///   collections, which share it; nil for a walk of this dictionary alone.
    package func entries(within budget: WalkBudget? = nil) -> EntryCursor {
        switch form {
        case .entries(let entries): return EntryCursor(entries: entries)
        case .trees(let keys, let values): return EntryCursor(keys: keys, values: values, within: budget)
        }
    }

    /// Returns whether a dictionary has the form of formats 21 and 22: its root is then that of a cluster tree.
    package static func isHistoric(_ root: Node, fileFormat: Int) -> Bool {
        fileFormat < 23 && (root.isInner || root.count != 2)
    }

    /// Reads the entries of a dictionary of formats 21 and 22: column slot 1 holds the keys, column slot 2 the values.
    ///
    /// - Parameters:
    ///   - root: The root of the cluster tree.
    ///   - shift: log2 of the capacity of its leaves.
    ///   - areLinksStored: Whether unresolved links are returned as they are stored; otherwise they
    ///     are null.
    /// - Returns: All entries, sorted by the bytes of their keys.
    static func historicEntries(
        _ root: Ref, _ space: NodeSpace, shift: Int = 8, areLinksStored: Bool = false
    ) throws(StorageError) -> [Entry] {
        var entries: [Entry] = []
        var cursor = ClusterTree(root: root, space: space, shift: shift).leaves()
        while let leaf = try cursor.next() {
            let keys = try StringLeaf(try space.node(at: try leaf.node.requiredRef(1, "dictionary keys")), space)
            let values = try MixedLeaf(try space.node(at: try leaf.node.requiredRef(2, "dictionary values")), space)
            guard keys.count == leaf.count, values.count == leaf.count else {
                throw leaf.node.corrupt("a dictionary leaf whose columns differ in length")
            }
            for row in 0..<leaf.count {
                guard let key = try keys.string(row) else { throw leaf.node.corrupt("a dictionary key is null") }
                let value = try areLinksStored ? ColumnLeaf.mixed(values).storedValue(row) : values.value(row)
                entries.append(Entry(key: .text(key), value: value))
            }
        }
        return entries.sorted { $0.key.bytes < $1.key.bytes }
    }
}
