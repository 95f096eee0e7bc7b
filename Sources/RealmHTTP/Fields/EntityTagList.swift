// SPDX-License-Identifier: Apache-2.0

/// What `If-Match` and `If-None-Match` name: entity tags with commas between, or `*` for whatever there is.
///
/// Source: RFC 9110, sections 8.8.3 and 13.1.
struct EntityTagList {
    /// One entity tag of the list.
    struct Tag: Equatable {
        /// With its quotes.
        let text: Substring
        let isWeak: Bool
    }

    /// Empty for `*`.
    private(set) var tags: [Tag] = []
    /// Whether the value is `*`, which stands for whatever there is.
    let isAny: Bool

    /// Nil for text that is no such list.
    init?(_ text: String) {
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

    private static func takeTag(_ rest: inout Substring) -> Tag? {
        let isWeak = rest.utf8.starts(with: "W/".utf8)
        let quoted = isWeak ? rest.dropFirst(2) : rest
        guard quoted.utf8.first == UInt8(ascii: "\""), let end = quoted.utf8.dropFirst().firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        rest = quoted[quoted.utf8.index(after: end)...]
        return Tag(text: quoted[...end], isWeak: isWeak)
    }

    /// Whether it names `tag`, which is given with its quotes; weak tags count too.
    func names(_ tag: String) -> Bool { isAny || tags.contains { $0.text == tag } }
}
