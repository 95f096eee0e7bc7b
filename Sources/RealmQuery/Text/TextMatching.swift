// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The string operators between two texts, for patterns that change from row to row.
///
/// Comparison is by bytes; letter case is ignored by the rule of `CaseFolding`. Every text begins with, ends with and contains
/// the empty pattern. A constant pattern is prepared once as a `TextPattern` instead, which is faster.
enum TextMatching {
    /// Returns whether two texts are equal, with or without regard to letter case.
    static func isEqual(_ text: ByteView, _ other: ByteView, ignoringCase: Bool) -> Bool {
        text.equals(other, ignoringCase: ignoringCase)
    }

    /// Returns whether a text begins with a pattern, with or without regard to letter case.
    static func begins(_ text: ByteView, with pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.begins(with: pattern, ignoringCase: ignoringCase)
    }

    /// Returns whether a text ends with a pattern, with or without regard to letter case.
    static func ends(_ text: ByteView, with pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.ends(with: pattern, ignoringCase: ignoringCase)
    }

    /// Returns whether a text contains a pattern, with or without regard to letter case.
    static func contains(_ text: ByteView, _ pattern: ByteView, ignoringCase: Bool) -> Bool {
        text.contains(pattern, ignoringCase: ignoringCase)
    }

    /// Returns whether a text matches a pattern of `LIKE`.
    ///
    /// - Parameter cancellation: The check that is called within long texts. When it asks to stop, the
    ///   result is meaningless.
    static func isLike(_ text: ByteView, _ pattern: ByteView, ignoringCase: Bool, _ cancellation: CancellationCheck?) -> Bool {
        LikePattern(pattern, ignoringCase: ignoringCase).matches(text, cancellation)
    }
}
