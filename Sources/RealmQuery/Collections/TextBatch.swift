// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The texts of the collections of several rows of a leaf, which are tested together. A batch is used once.
struct TextBatch {
    /// The texts of all rows, one row after another, without nulls.
    private var texts: [ByteView] = []
    /// For each row its number, the number of texts up to its end, and whether it has a null.
    private var rows: [(row: Int, end: Int, hasNull: Bool)] = []
    /// Whether each text matches.
    private var found: [Bool] = []

    /// The number of texts from which on a collection is tested separately.
    private static let fewTexts = 64

    /// Tests the texts of all candidates together.
    ///
    /// - Parameters:
    ///   - candidates: The rows to test.
    ///   - quantifier: The number of texts of a row that have to match.
    ///   - pattern: The pattern, and whether those match that it does not match, and nulls.
    ///   - cancellation: The check that can stop the query.
    ///   - leaf: Returns the texts of a row; nil where they are not in one leaf.
    ///   - otherwise: Tests a row whose texts are not in one leaf, or are many.
    /// - Returns: The rows that match.
    /// - Throws: The errors of the closures, and a storage error when the check asks to stop.
    mutating func evaluate(
        _ candidates: Mask, _ quantifier: Quantifier, _ pattern: (pattern: TextPattern, isNegated: Bool),
        cancellation: CancellationCheck, leaf: (Int) throws(StorageError) -> StringLeaf?,
        otherwise: (Int) throws(StorageError) -> Bool
    ) throws(StorageError) -> Mask {
        var matches = Mask.none
        try candidates.forEach { row throws(StorageError) in
            if let leaf = try leaf(row), leaf.count < TextBatch.fewTexts {
                if rows.isEmpty {
                    texts.reserveCapacity(candidates.count)
                    rows.reserveCapacity(candidates.count)
                }
                try append(leaf, of: row)
            } else {
                matches[row] = try otherwise(row)
            }
        }
        guard !rows.isEmpty else { return matches }
        found.reserveCapacity(texts.count)
        try pattern.pattern.match(texts, &found, cancellation)
        // `ALL` is decided by a text that does not match, the others by one that does.
        let wanted = quantifier != .all
        var start = 0
        for (row, end, hasNull) in rows {
            let has =
                hasNull && pattern.isNegated == wanted
                || found[start..<end].contains { ($0 != pattern.isNegated) == wanted }
            matches[row] = has == (quantifier == .any)
            start = end
        }
        return matches
    }

    /// Adds the texts of a row.
    private mutating func append(_ leaf: StringLeaf, of row: Int) throws(StorageError) {
        var hasNull = false
        for index in 0..<leaf.count {
            if let text = try leaf.string(index) { texts.append(text) } else { hasNull = true }
        }
        rows.append((row, texts.count, hasNull))
    }
}
