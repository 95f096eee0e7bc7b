// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes elements of HTML. Texts are escaped, so nothing that they hold is markup.
struct HTMLWriter {
    typealias Attribute = (name: StaticString, value: String)

    /// The HTML written so far.
    private(set) var html = ""

    mutating func text(_ text: String) { html += Markup.escaped(text) }

    /// Writes sentences in which text between backticks is code.
    mutating func prose(_ text: String) {
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 { element("code", text: String(part)) } else { self.text(String(part)) }
        }
    }

    /// Writes elements that were made by the build.
    mutating func elements(_ html: StaticString) { self.html += html.description }

    /// Writes an element that has no content.
    mutating func void(_ tag: StaticString, _ attributes: Attribute...) { begin(tag, attributes) }

    mutating func element(_ tag: StaticString, _ attributes: Attribute..., content: (inout HTMLWriter) -> Void) {
        begin(tag, attributes)
        content(&self)
        html += "</\(tag)>\n"
    }

    mutating func element(_ tag: StaticString, _ attributes: Attribute..., text: String) {
        begin(tag, attributes)
        self.text(text)
        html += "</\(tag)>"
    }

    mutating func link(_ text: String, to address: String) { element("a", ("href", address), text: text) }

    /// Writes the start of an element.
    private mutating func begin(_ tag: StaticString, _ attributes: [Attribute]) {
        html += "<\(tag)"
        for attribute in attributes {
            html += " \(attribute.name)=\""
            text(attribute.value)
            html += "\""
        }
        html += ">"
    }
}
