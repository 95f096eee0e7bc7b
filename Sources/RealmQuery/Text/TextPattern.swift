// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A string operator with its constant pattern, prepared so that testing a text allocates nothing.
package struct TextPattern: Sendable {
    package enum Kind: Sendable { case equal, beginsWith, endsWith, contains, like }

    private enum Test: Sendable {
        case needle(TextRelation, ByteNeedle)
        case like(LikePattern)
    }

    private let test: Test

    package init(_ kind: Kind, _ pattern: ByteView, ignoringCase: Bool) {
        func needle(_ relation: TextRelation, _ part: ByteView) -> Test {
            .needle(relation, ByteNeedle(part, ignoringCase: ignoringCase))
        }
        switch kind {
        case .equal: test = needle(.equal, pattern)
        case .beginsWith: test = needle(.prefix, pattern)
        case .endsWith: test = needle(.suffix, pattern)
        case .contains: test = needle(.part, pattern)
        case .like:
            let like = LikePattern(pattern, ignoringCase: ignoringCase)
            test = like.simplified.map { needle($0, pattern.slice($1.lowerBound, $1.upperBound)) } ?? .like(like)
        }
    }

    package func matches(_ text: ByteView) -> Bool {
        switch test {
        case .needle(let relation, let needle): return needle.relates(relation, to: text)
        case .like(let like): return like.matches(text)
        }
    }

    /// The rows of a cluster leaf among `candidates` whose text matches; null matches nothing here.
    package func rows(of leaf: StringLeaf, among candidates: Mask) throws(StorageError) -> Mask {
        switch test {
        case .needle(let relation, let needle): return try leaf.rows(relation, needle, among: candidates)
        case .like(let like):
            var rows = Mask.none
            try candidates.forEach { row throws(StorageError) in
                if row < leaf.count, let text = try leaf.string(row), like.matches(text) { rows[row] = true }
            }
            return rows
        }
    }
}
