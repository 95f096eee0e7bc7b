// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A string operator, and what it makes of a pattern that is null.
struct TextOperator {
    /// The operators between two texts.
    enum Kind {
        case beginsWith, endsWith, contains, like

        var prepared: TextPattern.Kind {
            switch self {
            case .beginsWith: return .beginsWith
            case .endsWith: return .endsWith
            case .contains: return .contains
            case .like: return .like
            }
        }
    }

    let kind: Kind
    let ignoresCase: Bool

    /// Strings match only strings, binary data only binary data. Null is like null, and contained in all that is not.
    func holds(_ text: Value, _ pattern: Value, _ cancellation: CancellationCheck?) -> Bool {
        switch (text, pattern) {
        case (.string(let text), .string(let pattern)), (.binary(let text), .binary(let pattern)):
            return holds(text, pattern, cancellation)
        case (.null, .null): return kind == .like
        case (_, .null): return kind == .contains
        default: return false
        }
    }

    /// Compares the bytes of two texts.
    private func holds(_ text: ByteView, _ pattern: ByteView, _ cancellation: CancellationCheck?) -> Bool {
        switch kind {
        case .beginsWith: return TextMatching.begins(text, with: pattern, ignoringCase: ignoresCase)
        case .endsWith: return TextMatching.ends(text, with: pattern, ignoringCase: ignoresCase)
        case .contains: return TextMatching.contains(text, pattern, ignoringCase: ignoresCase)
        case .like: return TextMatching.isLike(text, pattern, ignoringCase: ignoresCase, cancellation)
        }
    }
}
