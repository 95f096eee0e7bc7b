// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parsed value of `If-Match` or `If-None-Match`: entity tags separated by commas, or `*` for any existing representation.
///
/// Source: RFC 9110, sections 8.8.3 and 13.1.
package struct EntityTagList {
    package struct Tag: Equatable {
        /// The tag with its quotes and without `W/`.
        package let text: Substring
        /// Whether the tag is marked as weak by `W/`.
        package let isWeak: Bool
    }

    /// The tags in their order; empty for `*`.
    package private(set) var tags: [Tag] = []
    /// Whether the value is `*`.
    package let isAny: Bool

    /// Parses the value of the field.
    ///
    /// - Parameter text: The value, with several lines joined by commas.
    /// - Returns: nil for a text that is neither `*` nor a list of one or more entity tags.
    package init?(_ text: String) {
        var rest = text[...].withoutBlanks
        isAny = rest == "*"
        guard !isAny else { return }
        while true {
            guard let tag = EntityTagList.takeTag(&rest) else { return nil }
            tags.append(tag)
            rest = rest.withoutBlanks
            if rest.isEmpty { return }
            guard rest.utf8.first == UInt8(ascii: ",") else { return nil }
            rest = rest.dropFirst().withoutBlanks
        }
    }

    /// Removes one tag from the beginning of `rest` and returns it; nil when there is none.
    private static func takeTag(_ rest: inout Substring) -> Tag? {
        let isWeak = rest.utf8.starts(with: "W/".utf8)
        let quoted = isWeak ? rest.dropFirst(2) : rest
        guard quoted.utf8.first == UInt8(ascii: "\""), let end = quoted.utf8.dropFirst().firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        rest = quoted[quoted.utf8.index(after: end)...]
        return Tag(text: quoted[...end], isWeak: isWeak)
    }

    /// Returns whether the list contains an entity tag. It is a weak comparison: tags that are marked as weak match, too.
    ///
    /// - Parameter tag: The tag to find, with its quotes.
    package func names(_ tag: String) -> Bool { isAny || tags.contains { $0.text == tag } }
}
