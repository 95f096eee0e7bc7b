// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Tests of dictionaries with text keys whose trees are one leaf each.
extension LeafCollections {
    /// Finds the dictionaries that have a text under a key.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func dictionaries(
        with text: CellText, forKey key: CellText, among rows: Mask
    ) throws(StorageError) -> Outcome {
        try decide(rows) { node throws(StorageError) in
            guard let (keys, values) = try parts(node) else { return nil }
            guard let index = key.row(in: keys) else { return false }
            return try values.has(text, in: index..<index + 1)
        }
    }

    /// Finds the dictionaries that have a text under any key.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func dictionaries(with text: CellText, among rows: Mask) throws(StorageError) -> Outcome {
        try decide(rows) { node throws(StorageError) in
            guard let (keys, values) = try parts(node) else { return nil }
            return try values.has(text, in: 0..<keys.count)
        }
    }

    /// Finds the dictionaries that have a key.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func dictionaries(withKey key: CellText, among rows: Mask) throws(StorageError) -> Outcome {
        try decide(rows) { node throws(StorageError) in
            guard node.hasRefs, !node.isInner, node.count == 2 else { return nil }
            let root = try node.rawSlot(0)
            guard root != 0, root & 1 == 0 else { return nil }
            let keys = try space.node(at: Ref(root))
            return StringLeaf.isShort(keys) && keys.count < LeafCollections.fewEntries ? key.row(in: keys) != nil : nil
        }
    }

    /// Appends the numbers of entries of the dictionaries of rows.
    ///
    /// - Parameters:
    ///   - rows: The rows, which are taken in ascending order.
    ///   - fileFormat: The format version of the file.
    ///   - counts: Receives one number for each row.
    ///   - otherwise: Returns the number for a dictionary with other keys than short texts in one leaf.
    /// - Throws: `.corrupt` for a ref that is none, and what the closure throws.
    package func appendEntryCounts(
        of rows: Mask, _ keyType: ColumnType, fileFormat: Int, to counts: inout [Int64],
        otherwise: (Ref) throws(StorageError) -> Int
    ) throws(StorageError) {
        try appendCounts(of: rows, to: &counts, otherwise) { root throws(StorageError) in
            try ShortDictionary.count(root: root, space: space, keyType: keyType, fileFormat: fileFormat)
        }
    }

    /// Returns the keys and values of a dictionary with a few short keys; nil for one of another form, a damaged one among them.
    ///
    /// No dictionary of an older format is a leaf of two refs.
    @inline(__always)
    private func parts(_ root: Node) throws(StorageError) -> (keys: Node, values: MixedTexts)? {
        guard root.hasRefs, !root.isInner, root.count == 2 else { return nil }
        let (keyRoot, valueRoot) = (try root.rawSlot(0), try root.rawSlot(1))
        guard keyRoot != 0, keyRoot & 1 == 0, valueRoot != 0, valueRoot & 1 == 0 else { return nil }
        let keys = try space.node(at: Ref(keyRoot))
        guard StringLeaf.isShort(keys), keys.count < LeafCollections.fewEntries,
            let values = try MixedTexts(try space.node(at: Ref(valueRoot)), space), values.count == keys.count
        else { return nil }
        return (keys, values)
    }

    /// The number of entries from which on a dictionary is left to the caller, who counts them as work.
    private static let fewEntries = 512
}

/// The words of a Mixed leaf and its texts, if they are short.
struct MixedTexts {
    private let words: PackedIntegers
    /// The leaf, which has the ref of its texts.
    private let leaf: Node
    /// The space that the texts are read in.
    private let space: NodeSpace

    var count: Int { words.count }

    /// The lower byte of the words of texts.
    private static let textWord = Int64(MixedEntry.Slot.strings << 5 | (MixedEntry.Number.string + 1))

    /// Attaches the words of a leaf; nil for a node that is none.
    @inline(__always)
    init?(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        guard node.hasRefs, !node.isInner, (4...MixedEntry.Slot.count).contains(node.count) else { return nil }
        let root = try node.rawSlot(MixedEntry.Slot.words)
        guard root != 0, root & 1 == 0 else { return nil }
        let first = try space.node(at: Ref(root))
        guard !first.hasRefs, first.widthType == Node.WidthType.bits.rawValue else { return nil }
        words = try first.integers()
        leaf = node
        self.space = space
    }

    /// Returns whether one of the values in some rows, which must exist, is a text; nil where texts have another form or are damaged.
    @inline(__always)
    func has(_ text: CellText, in rows: Range<Int>) throws(StorageError) -> Bool? {
        let root = try leaf.rawSlot(MixedEntry.Slot.strings)
        guard root & 1 == 0 else { return nil }
        guard root != 0 else {
            for row in rows where words[row] & 0xff == MixedTexts.textWord { return nil }
            return false
        }
        let texts = try space.node(at: Ref(root))
        guard StringLeaf.isShort(texts) else { return nil }
        for row in rows {
            let word = words[row]
            guard word & 0xff == MixedTexts.textWord else { continue }
            let index = word >> 8
            guard index >= 0, index < Int64(texts.count) else { return nil }
            if text.isText(Int(truncatingIfNeeded: index), of: texts) { return true }
        }
        return false
    }
}
