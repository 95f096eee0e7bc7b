// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The texts of the collections of several rows, which are tested together.
struct TextBatch {
    /// The texts of all rows, one row after another, without nulls.
    private var texts: [ByteView] = []
    /// For each closed row its number, the number of texts up to its end, and whether it has a null.
    private var rows: [(row: Int, end: Int, hasNull: Bool)] = []
    /// Whether the open row has a null.
    private var hasNull = false
    /// Whether each text matches.
    private var found: [Bool] = []
    /// Whether texts match that the pattern does not match, and nulls.
    private var isNegated = false

    /// The number of texts from which on a collection is tested by itself.
    static let fewTexts = 64

    /// Removes all rows and texts.
    mutating func removeAll() {
        texts.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        hasNull = false
    }

    /// Adds a text or null to the open row.
    mutating func append(_ text: ByteView?) {
        if let text { texts.append(text) } else { hasNull = true }
    }

    /// Ends the texts of a row.
    mutating func close(_ row: Int) {
        rows.append((row, texts.count, hasNull))
        hasNull = false
    }

    /// Tests all texts.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - isNegated: Whether those match that it does not match, and nulls.
    ///   - cancellation: The check that can stop the query.
    /// - Throws: A storage error when the check asks to stop.
    mutating func match(_ pattern: TextPattern, isNegated: Bool, _ cancellation: CancellationCheck) throws(StorageError) {
        self.isNegated = isNegated
        try pattern.match(texts, &found, cancellation)
    }

    /// Calls a closure with each row and whether one of its texts and nulls has the outcome `wanted`.
    func forEachRow(having wanted: Bool, _ body: (_ row: Int, _ has: Bool) -> Void) {
        var start = 0
        for (row, end, hasNull) in rows {
            var has = hasNull && isNegated == wanted
            for index in start..<end where (found[index] != isNegated) == wanted { has = true }
            start = end
            body(row, has)
        }
    }
}
