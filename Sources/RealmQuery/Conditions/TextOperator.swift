// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A string operator with its case modifier, for patterns that may differ from row to row.
struct TextOperator {
    /// The string operators between two texts. Full-text search is not among them.
    enum Kind {
        case beginsWith, endsWith, contains, like

        /// The same operator for a constant pattern, which is prepared once.
        var prepared: TextPattern.Kind {
            switch self {
            case .beginsWith: return .beginsWith
            case .endsWith: return .endsWith
            case .contains: return .contains
            case .like: return .like
            }
        }
    }

    /// Which string operator it is: the place in the text where the pattern has to be, or `LIKE`.
    let kind: Kind
    /// Whether the case modifier `[c]` follows the operator, so that letter case does not count.
    let ignoresCase: Bool

    /// Returns whether a text matches a pattern.
    ///
    /// Strings match only strings, and binary data only binary data. With a null pattern, `LIKE`
    /// holds for null alone, and `CONTAINS` for everything else.
    ///
    /// - Parameters:
    ///   - text: The left value.
    ///   - pattern: The right value.
    ///   - cancellation: The check that is called within long texts. When it asks to stop, the result is
    ///     meaningless.
    func holds(_ text: Value, _ pattern: Value, _ cancellation: CancellationCheck?) -> Bool {
        switch (text, pattern) {
        case (.string(let text), .string(let pattern)), (.binary(let text), .binary(let pattern)):
            return holds(text, pattern, cancellation)
        case (.null, .null): return kind == .like
        case (_, .null): return kind == .contains
        default: return false
        }
    }

    /// Returns whether the bytes of a text match those of a pattern by this operator.
    private func holds(_ text: ByteView, _ pattern: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        switch kind {
        case .beginsWith: return TextMatching.begins(text, with: pattern, ignoringCase: ignoresCase)
        case .endsWith: return TextMatching.ends(text, with: pattern, ignoringCase: ignoresCase)
        case .contains: return TextMatching.contains(text, pattern, ignoringCase: ignoresCase)
        case .like: return TextMatching.isLike(text, pattern, ignoringCase: ignoresCase, cancellation)
        }
    }
}
