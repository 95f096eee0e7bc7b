// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A dictionary with text keys whose trees are one leaf each, attached to be read in place.
package struct ShortDictionary: Sendable {
    private let keys: Node
    private let values: Node
    private let space: NodeSpace

    /// Attaches a dictionary.
    ///
    /// - Parameters:
    ///   - root: The root, which is not `Ref.none`.
    ///   - fileFormat: The format version of the file.
    /// - Returns: Nil for a dictionary of another form, which `DictionaryView` reads.
    /// - Throws: `.corrupt` for a damaged root.
    package init?(root: Ref, space: NodeSpace, keyType: ColumnType, fileFormat: Int) throws(StorageError) {
        guard keyType == .string else { return nil }
        let node = try space.node(at: root)
        guard !DictionaryView.isHistoric(node, fileFormat: fileFormat) else { return nil }
        try DictionaryView.requireShape(node)
        let keyRoot = try node.optionalRef(0, "dictionary keys")
        let valueRoot = try node.optionalRef(1, "dictionary values")
        guard !keyRoot.isNone, !valueRoot.isNone else { return nil }
        keys = try space.node(at: keyRoot)
        values = try space.node(at: valueRoot)
        guard !keys.isInner, !values.isInner else { return nil }
        self.space = space
    }

    /// Returns the number of entries of a dictionary without attaching them, for one whose keys are short texts in one leaf; nil for others.
    ///
    /// - Parameters: As for the initializer.
    /// - Throws: `.corrupt` for a damaged root.
    package static func count(
        root: Ref, space: NodeSpace, keyType: ColumnType, fileFormat: Int
    ) throws(StorageError) -> Int? {
        guard keyType == .string else { return nil }
        let node = try space.node(at: root)
        guard !DictionaryView.isHistoric(node, fileFormat: fileFormat) else { return nil }
        try DictionaryView.requireShape(node)
        let keys = try node.optionalRef(0, "dictionary keys")
        guard !keys.isNone else { return nil }
        let leaf = try space.node(at: keys)
        return StringLeaf.isShort(leaf) ? leaf.count : nil
    }

    /// Attaches the keys; throws `.corrupt` for a damaged leaf.
    package func attachKeys() throws(StorageError) -> StringLeaf { try StringLeaf(keys, space) }

    /// Attaches the values for reading all of them; throws `.corrupt` for a damaged leaf, or one that is not as long as that of the keys.
    package func attachValues() throws(StorageError) -> MixedLeaf {
        let leaf = try MixedLeaf(values, space)
        try requireCount(leaf)
        return leaf
    }

    /// Returns the value of an entry; throws `.corrupt` for a damaged leaf.
    package func value(at index: Int) throws(StorageError) -> Value {
        let leaf = try MixedLeaf(forFewOf: values, space)
        try requireCount(leaf)
        return try leaf.value(index)
    }

    /// Checks that there are as many values as keys, and throws `.corrupt` otherwise.
    private func requireCount(_ leaf: MixedLeaf) throws(StorageError) {
        let count = StringLeaf.isShort(keys) ? keys.count : try attachKeys().count
        guard leaf.count == count else { throw values.corrupt("\(count) dictionary keys with \(leaf.count) values") }
    }

    /// The result of a search for a key.
    package enum Search: Sendable, Equatable {
        /// The dictionary has no entries at all.
        case empty
        /// No entry has the key.
        case missing
        /// The index of the entry that has it.
        case found(Int)
    }

    /// Looks for the entry with a key; throws `.corrupt` for damaged texts.
    package func search(_ wanted: ByteView) throws(StorageError) -> Search {
        if StringLeaf.isShort(keys) {
            if keys.count == 0 { return .empty }
            return try StringLeaf.row(of: wanted, inShort: keys).map(Search.found) ?? .missing
        }
        let texts = try attachKeys()
        if texts.count == 0 { return .empty }
        for row in 0..<texts.count where try texts.string(row) == wanted { return .found(row) }
        return .missing
    }
}
