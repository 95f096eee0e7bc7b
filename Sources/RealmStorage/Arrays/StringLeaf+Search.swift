// SPDX-License-Identifier: Apache-2.0

extension StringLeaf {
    /// The rows among `candidates` whose text `needle` relates to so. Null is no text, so it never matches.
    ///
    /// The leaf is one of a cluster, with at most `Mask.capacity` rows.
    package func rows(_ relation: TextRelation, _ needle: ByteNeedle, among candidates: Mask) throws(StorageError) -> Mask {
        // Below a few rows it does not pay to look through the whole leaf.
        if needle.count > 0, count <= Mask.capacity, candidates.count > 8, let rows = allRows(relation, needle) {
            return rows & candidates
        }
        var rows = Mask.none
        try candidates.forEach { row throws(StorageError) in
            guard row < count, let text = try string(row) else { return }
            if needle.relates(relation, to: text) { rows[row] = true }
        }
        return rows
    }

    /// All rows at once; nil for long needles, whose search has to be linear in any text, for the forms where each text
    /// has its own place in the file, and for damaged leaves.
    private func allRows(_ relation: TextRelation, _ needle: ByteNeedle) -> Mask? {
        guard !needle.isLong else { return nil }
        if let cells = shortCells {
            return cells.width == 0 ? Mask.none : needle.rows(relation, cells: cells.bytes, width: cells.width)
        }
        guard let medium = mediumTexts else { return nil }
        return needle.rows(relation, blob: medium.bytes, ends: medium.ends, nulls: medium.nulls)
    }
}

extension ByteNeedle {
    /// Does the needle stand so in `text`?
    package func relates(_ relation: TextRelation, to text: ByteView) -> Bool {
        switch relation {
        case .equal: return isEqual(to: text)
        case .prefix: return isPrefix(of: text)
        case .suffix: return isSuffix(of: text)
        case .part: return isPart(of: text)
        }
    }
}
