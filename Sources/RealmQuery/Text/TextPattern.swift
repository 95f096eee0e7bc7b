// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// A string operator with its constant pattern, prepared so that testing a text allocates nothing.
package struct TextPattern: Sendable {
    /// The string operators, and equality, which is tested in the same way.
    package enum Kind: Sendable { case equal, beginsWith, endsWith, contains, like }

    /// The prepared test. A pattern of `LIKE` without wildcards inside becomes one of the simpler tests.
    private enum Test: Sendable {
        case equal(BytePattern)
        case prefix(BytePattern)
        case suffix(BytePattern)
        case part(BytePattern)
        case longPart(LinearSearch)
        case like(LikePattern)
    }

    /// The length in bytes from which a pattern is searched in linear time: in a repetitive text
    /// the plain search could be slow.
    private static let longByteCount = 64

    /// The test that was chosen for the operator and the pattern.
    private let test: Test

    /// Prepares a string operator.
    ///
    /// - Parameters:
    ///   - kind: The operator.
    ///   - pattern: The pattern in UTF-8, or binary data. Its bytes are copied.
    ///   - ignoringCase: Whether letter case is ignored, by the rule of `CaseFolding`.
    package init(_ kind: Kind, _ pattern: ByteView, ignoringCase: Bool) {
        guard kind == .like else {
            test = TextPattern.test(kind, pattern, ignoringCase)
            return
        }
        let like = LikePattern(pattern, ignoringCase: ignoringCase)
        test =
            like.simplified.map { TextPattern.test($0, pattern.slice($1.lowerBound, $1.upperBound), ignoringCase) }
            ?? .like(like)
    }

    /// Chooses the test for an operator and a pattern without wildcards.
    private static func test(_ kind: Kind, _ pattern: ByteView, _ ignoringCase: Bool) -> Test {
        let bytes = BytePattern(pattern, ignoringCase: ignoringCase)
        switch kind {
        case .equal: return .equal(bytes)
        case .beginsWith: return .prefix(bytes)
        case .endsWith: return .suffix(bytes)
        case .like: return .like(LikePattern(pattern, ignoringCase: ignoringCase))
        case .contains:
            return pattern.count < longByteCount ? .part(bytes) : .longPart(LinearSearch(pattern, ignoringCase: ignoringCase))
        }
    }

    /// A filter that passes every leaf with a text that matches; nil for patterns that have none.
    var filter: PairFilter? {
        switch test {
        case .equal(let pattern), .prefix(let pattern), .suffix(let pattern), .part(let pattern): return PairFilter(pattern)
        case .longPart, .like: return nil
        }
    }

    /// Returns whether a text matches. It cannot be stopped; see the other overload.
    package func matches(_ text: ByteView) -> Bool { matches(text, nil) }

    /// Returns whether a text matches.
    ///
    /// - Parameters:
    ///   - text: The text or binary data.
    ///   - cancellation: The check that is called within long texts. When it asks to stop, the result is
    ///     meaningless.
    func matches(_ text: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        switch test {
        case .equal(let pattern): return pattern.equals(text)
        case .prefix(let pattern): return pattern.isPrefix(of: text)
        case .suffix(let pattern): return pattern.isSuffix(of: text)
        case .part(let pattern):
            return text.count > TextPattern.pieceByteCount
                ? occurs(pattern, inPiecesOf: text, cancellation) : pattern.occurs(in: text)
        case .longPart(let search): return search.finds(in: text)
        case .like(let like): return like.matches(text, cancellation)
        }
    }

    /// Tests several texts. Work that all of them share is done once.
    ///
    /// - Parameters:
    ///   - texts: The texts or binary data.
    ///   - found: Receives whether each of them matches.
    ///   - cancellation: The check that can stop the query.
    /// - Throws: A storage error when the check asks to stop.
    func match(_ texts: [ByteView], _ found: inout [Bool], _ cancellation: CancellationCheck) throws(StorageError) {
        found.removeAll(keepingCapacity: true)
        let byteCount = texts.reduce(0) { $0 &+ $1.count }
        try cancellation.step(texts.count &+ byteCount &>> 8)
        guard byteCount <= TextPattern.pieceByteCount else {
            for text in texts { found.append(matches(text, cancellation)) }
            return try cancellation.requireGoingOn()
        }
        switch test {
        case .equal(let pattern): for text in texts { found.append(pattern.equals(text)) }
        case .prefix(let pattern): for text in texts { found.append(pattern.isPrefix(of: text)) }
        case .suffix(let pattern): for text in texts { found.append(pattern.isSuffix(of: text)) }
        case .part(let pattern): for text in texts { found.append(pattern.occurs(in: text)) }
        case .longPart(let search): for text in texts { found.append(search.finds(in: text)) }
        case .like(let like): for text in texts { found.append(like.matches(text, cancellation)) }
        }
        try cancellation.requireGoingOn()
    }

    /// The length in bytes of the pieces in which long texts are searched.
    private static let pieceByteCount = 1 << 16

    /// Searches a long text piece by piece and calls the check between them.
    ///
    /// In a repetitive text each byte may take as many comparisons as the pattern is long. The
    /// pieces overlap, so that an occurrence across their border is found.
    private func occurs(_ pattern: BytePattern, inPiecesOf text: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        for start in stride(from: 0, to: text.count, by: TextPattern.pieceByteCount) {
            let end = min(start + TextPattern.pieceByteCount + pattern.count - 1, text.count)
            if pattern.occurs(in: text.slice(start, end)) { return true }
            guard cancellation?.continues(CancellationCheck.stepsOfLongWork) ?? true else { return false }
        }
        return pattern.isEmpty
    }

    /// Returns the rows of a leaf whose text matches; null does not match.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of a string column.
    ///   - rows: The rows to test.
    ///   - row: The row of the leaf that bit 0 of the masks represents.
    ///   - cancellation: The check that can stop the query.
    /// - Throws: A storage error when the file is damaged or the check asks to stop.
    func rows(of leaf: StringLeaf, among rows: Mask, from row: Int = 0, _ cancellation: CancellationCheck?) throws(StorageError)
        -> Mask
    {
        if leaf.hasLongStrings { return try longRows(of: leaf, among: rows, from: row, cancellation) }
        switch test {
        case .equal(let pattern): return try leaf.isEqual(to: pattern, among: rows, from: row)
        case .prefix(let pattern): return try leaf.hasPrefix(pattern, among: rows, from: row)
        case .suffix(let pattern): return try leaf.hasSuffix(pattern, among: rows, from: row)
        case .part(let pattern): return try leaf.contains(pattern, among: rows, from: row)
        case .longPart, .like: return try longRows(of: leaf, among: rows, from: row, cancellation)
        }
    }

    /// Tests one text after another, and counts the steps that each of them takes.
    private func longRows(
        of leaf: StringLeaf, among rows: Mask, from row: Int, _ cancellation: CancellationCheck?
    ) throws(StorageError) -> Mask {
        try rows.filter { index throws(StorageError) in
            guard row + index < leaf.count, let text = try leaf.string(row + index) else { return false }
            try cancellation?.step(for: .string(text))
            return matches(text, cancellation)
        }
    }
}
