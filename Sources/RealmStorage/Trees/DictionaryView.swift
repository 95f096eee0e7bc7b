// SPDX-License-Identifier: Apache-2.0

/// A dictionary, read in place: of a property or nested in Mixed.
///
/// A node of two refs: a B+ tree of distinct keys in ascending order, and one of as many values, which are mixed
/// leaves whatever the type of the property. Formats 21 and 22 keep entries in a cluster tree under hashed keys
/// instead; those are read whole and shown sorted.
/// Source: docs/format.md, "Dictionaries".
package struct DictionaryView: Sendable {
    /// How the entries are kept.
    private enum Form: Sendable {
        /// The form of format 23 and later.
        case trees(keys: BPlusTree, values: BPlusTree)
        /// The entries of the older form, sorted.
        case entries([Entry])
    }

    /// A key with its value.
    package struct Entry: Sendable {
        /// The key of the entry.
        package let key: DictionaryKey
        /// The value of the entry; an unresolved link reads as null.
        package let value: Value
    }

    /// How the entries are kept.
    private let form: Form
    /// How many entries there are.
    package let count: Int

    /// A dictionary by its root. Throws `.corrupt` when keys and values differ in number.
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

    /// Throws `.corrupt` unless `node` has the two slots of a dictionary: keys and values.
    static func requireShape(_ node: Node) throws(StorageError) {
        guard node.hasRefs, !node.isInner, node.count == 2 else { throw node.corrupt("a dictionary is a node of two refs") }
    }

    /// Whether there are no entries.
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

    /// The key of entry `index`, which must be in `0..<count`.
    package func key(at index: Int) throws(StorageError) -> DictionaryKey {
        switch form {
        case .entries(let entries): return entries[index].key
        case .trees(let keys, _): return try DictionaryKey(try keys.value(at: index), keys.root)
        }
    }

    /// The value of entry `index`, which must be in `0..<count`.
    package func value(at index: Int) throws(StorageError) -> Value {
        switch form {
        case .entries(let entries): return entries[index].value
        case .trees(_, let values): return try values.value(at: index)
        }
    }

    /// The value for a text key, or nil when it is absent. Keys are scanned: an upgraded file may have them unsorted.
    ///
    /// O(n). Keys of texts only: an integer key is never found.
    package func find(_ wanted: ByteView) throws(StorageError) -> Value? {
        switch form {
        case .entries(let entries): return entries.first { $0.key.bytes == wanted }?.value
        case .trees(let keys, let values):
            guard let index = try DictionaryView.index(of: wanted, in: keys) else { return nil }
            return try values.value(at: index)
        }
    }

    /// The position of a key; nil when it is absent. Looks at all keys before it.
    private static func index(of wanted: ByteView, in keys: BPlusTree) throws(StorageError) -> Int? {
        var cursor = keys.leaves()
        while let (leaf, start) = try cursor.next() {
            guard case .string(let strings) = leaf else { return nil }
            for row in 0..<strings.count where try strings.string(row) == wanted { return start + row }
        }
        return nil
    }

    /// The entries in stored order. A walk that goes on into nested collections gives all of them the same `budget`.
    package func entries(within budget: WalkBudget? = nil) -> EntryCursor {
        switch form {
        case .entries(let entries): return EntryCursor(entries: entries)
        case .trees(let keys, let values): return EntryCursor(keys: keys, values: values, within: budget)
        }
    }

    /// Whether a dictionary has the form of formats 21 and 22: its root is that of a cluster tree.
    static func isHistoric(_ root: Node, fileFormat: Int) -> Bool {
        fileFormat < 23 && (root.isInner || root.count != 2)
    }

    /// Entries of formats 21 and 22: column slot 1 holds the keys, column slot 2 the values. With `areLinksStored`
    /// unresolved links are as they are stored, else null.
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
