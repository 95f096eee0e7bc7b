// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The string operators between two texts, for patterns that change from row to row.
///
/// Comparison is by bytes; letter case is ignored by the rule of `CaseFolding`. The empty pattern begins, ends and is
/// contained in every text. A constant pattern is prepared once as a `TextPattern`.
enum TextMatching {
    static func isEqual(_ text: ByteView, _ other: ByteView, ignoringCase: Bool) -> Bool {
        text.equals(other, ignoringCase: ignoringCase)
    }

    static func begins(_ text: ByteView, with pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.begins(with: pattern, ignoringCase: ignoringCase)
    }

    static func ends(_ text: ByteView, with pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.ends(with: pattern, ignoringCase: ignoringCase)
    }

    static func contains(_ text: ByteView, _ pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.contains(pattern, ignoringCase: ignoringCase)
    }

    static func isLike(_ text: ByteView, _ pattern: ByteView, ignoringCase: Bool, _ cancellation: CancellationCheck?) -> Bool {
        LikePattern(pattern, ignoringCase: ignoringCase).matches(text, cancellation)
    }
}
