// SPDX-License-Identifier: Apache-2.0

import CMarkdown
import Glibc

/// A document in GitHub's Markdown as HTML, without raw HTML.
///
/// Headings have identifiers made of their words, so that links can lead to them. Links to other documents lead to their pages.
struct Markdown {
    /// The elements, without a page around them.
    let html: String

    init(_ text: String) {
        cmark_gfm_core_extensions_ensure_registered()
        let parser = cmark_parser_new(CMARK_OPT_DEFAULT)
        defer { cmark_parser_free(parser) }
        let table = cmark_find_syntax_extension("table")
        cmark_parser_attach_syntax_extension(parser, table)
        cmark_parser_feed(parser, text, text.utf8.count)
        let document = cmark_parser_finish(parser)
        defer { cmark_node_free(document) }
        Markdown.link(document)
        let rendered = cmark_render_html(document, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser))
        defer { free(rendered) }
        html = rendered.map { String(cString: $0) } ?? ""
    }

    /// Puts an anchor into each heading, and makes addresses of pages of those of documents.
    private static func link(_ document: OpaquePointer?) {
        let walk = cmark_iter_new(document)
        defer { cmark_iter_free(walk) }
        while true {
            let event = cmark_iter_next(walk)
            if event == CMARK_EVENT_DONE { return }
            guard event == CMARK_EVENT_EXIT, let node = cmark_iter_get_node(walk) else { continue }
            switch cmark_node_get_type(node) {
            case CMARK_NODE_HEADING:
                let anchor = cmark_node_new(CMARK_NODE_CUSTOM_INLINE)
                cmark_node_set_on_enter(anchor, "<a id=\"\(identifier(words(of: node)))\"></a>")
                cmark_node_prepend_child(node, anchor)
            case CMARK_NODE_LINK:
                guard let address = cmark_node_get_url(node) else { continue }
                cmark_node_set_url(node, String(cString: address).replacing(".md", with: ""))
            default: break
            }
        }
    }

    /// Returns the text of a heading without its markup.
    private static func words(of heading: OpaquePointer) -> String {
        let walk = cmark_iter_new(heading)
        defer { cmark_iter_free(walk) }
        var words = ""
        while cmark_iter_next(walk) != CMARK_EVENT_DONE {
            if let literal = cmark_node_get_literal(cmark_iter_get_node(walk)) { words += String(cString: literal) }
        }
        return words
    }

    /// Returns the identifier of a heading: its letters and digits in lower case, with dashes for blanks.
    private static func identifier(_ heading: String) -> String {
        String(heading.lowercased().compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
    }
}
