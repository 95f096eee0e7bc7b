// SPDX-License-Identifier: Apache-2.0

/// Markdown as HTML, in the forms that the documents of this project use: headings, paragraphs, lists, tables, fenced code, and
/// within a line code, emphasis and links.
///
/// Everything else is text. Headings get identifiers made of their words, so that links can lead to them.
struct Markdown {
    /// The elements, without a page around them.
    let html: String

    /// Renders a document.
    init(_ text: String) {
        var reader = Blocks(lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        html = reader.read()
    }

    /// Returns the text of one paragraph, heading or cell as HTML.
    static func inline(_ text: Substring) -> String {
        var html = ""
        var rest = text
        while !rest.isEmpty {
            if let (element, after) = element(rest) {
                html += element
                rest = after
            } else {
                html += escaped(rest.prefix(1))
                rest = rest.dropFirst()
            }
        }
        return html
    }

    /// Returns the element that a text begins with, and what follows it; nil when it begins with a plain character.
    private static func element(_ text: Substring) -> (String, Substring)? {
        switch text.first {
        case "\\":
            guard let next = text.dropFirst().first, "\\`*_|[]<>#".contains(next) else { return nil }
            return (escaped(text.dropFirst().prefix(1)), text.dropFirst(2))
        case "`":
            let fence = String(text.prefix { $0 == "`" })
            return enclosed(text, by: fence).map { ("<code>\(escaped($0.trimmingBlanks))</code>", $1) }
        case "*" where text.hasPrefix("**"):
            return enclosed(text, by: "**").map { ("<strong>\(inline($0))</strong>", $1) }
        case "*" where !text.hasPrefix("* "):
            return enclosed(text, by: "*").map { ("<em>\(inline($0))</em>", $1) }
        case "[": return link(text)
        default: return nil
        }
    }

    /// Returns what is between a mark at the beginning and the same mark later, and what follows; nil when that is missing.
    private static func enclosed(_ text: Substring, by mark: String) -> (Substring, Substring)? {
        let inner = text.dropFirst(mark.count)
        guard let end = inner.firstRange(of: mark), end.lowerBound > inner.startIndex else { return nil }
        return (inner[..<end.lowerBound], inner[end.upperBound...])
    }

    /// Returns the link at the beginning of a text; nil when there is none. Links to other documents lead to their pages.
    private static func link(_ text: Substring) -> (String, Substring)? {
        guard let middle = text.firstRange(of: "]("), let end = text[middle.upperBound...].firstIndex(of: ")") else { return nil }
        let title = text[text.index(after: text.startIndex)..<middle.lowerBound]
        guard !title.contains("[") else { return nil }
        let address = String(text[middle.upperBound..<end]).replacing(".md", with: "")
        return ("<a href=\"\(escaped(Substring(address)))\">\(inline(title))</a>", text[text.index(after: end)...])
    }

    /// Returns a text in which nothing is markup.
    static func escaped(_ text: Substring) -> String {
        String(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    /// Returns the identifier of a heading: its letters and digits in lower case, with dashes for blanks.
    static func identifier(_ heading: Substring) -> String {
        String(heading.lowercased().compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
    }
}

extension Substring {
    /// The text without blanks at its ends.
    var trimmingBlanks: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
