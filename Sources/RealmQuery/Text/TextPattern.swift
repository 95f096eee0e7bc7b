// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A string operator with its constant pattern, prepared so that testing a text allocates nothing.
package struct TextPattern: Sendable {
    package enum Kind: Sendable { case equal, beginsWith, endsWith, contains, like }

    private enum Test: Sendable {
        case equal(BytePattern)
        case prefix(BytePattern)
        case suffix(BytePattern)
        case part(BytePattern)
        case longPart(LinearSearch)
        case like(LikePattern)
    }

    /// From this length on a repetitive text could make the plain search slow.
    private static let longByteCount = 64

    private let test: Test

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

    package func matches(_ text: ByteView) -> Bool { matches(text, nil) }

    /// `cancellation` is asked within long texts: when it says no, the answer is worth nothing.
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

    private static let pieceByteCount = 1 << 16

    /// A repetitive text takes as many comparisons as the pattern is long, for every byte, so the time is looked at on the way.
    private func occurs(_ pattern: BytePattern, inPiecesOf text: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        for start in stride(from: 0, to: text.count, by: TextPattern.pieceByteCount) {
            let end = min(start + TextPattern.pieceByteCount + pattern.count - 1, text.count)
            if pattern.occurs(in: text.slice(start, end)) { return true }
            guard cancellation?.goesOn(CancellationCheck.stepsOfLongWork) ?? true else { return false }
        }
        return pattern.isEmpty
    }

    /// The rows of a leaf among `rows` whose text matches; null matches nothing here. `from` is the row of bit 0.
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

    /// One text after the other, with a look at the time.
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
