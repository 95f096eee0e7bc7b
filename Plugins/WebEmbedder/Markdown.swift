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
        let parser = unsafe cmark_parser_new(CMARK_OPT_DEFAULT)
        defer { unsafe cmark_parser_free(parser) }
        unsafe cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"))
        unsafe cmark_parser_feed(parser, text, text.utf8.count)
        let document = unsafe cmark_parser_finish(parser)
        defer { unsafe cmark_node_free(document) }
        unsafe Markdown.link(document)
        let rendered = unsafe cmark_render_html(document, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser))
        defer { unsafe free(rendered) }
        html = unsafe rendered.map { unsafe String(cString: $0) } ?? ""
    }

    /// Puts an anchor into each heading, and makes addresses of pages of those of documents.
    private static func link(_ document: OpaquePointer?) {
        let walk = unsafe cmark_iter_new(document)
        defer { unsafe cmark_iter_free(walk) }
        while true {
            let event = unsafe cmark_iter_next(walk)
            if event == CMARK_EVENT_DONE { return }
            guard event == CMARK_EVENT_EXIT, let node = unsafe cmark_iter_get_node(walk) else { continue }
            switch unsafe cmark_node_get_type(node) {
            case CMARK_NODE_HEADING:
                let anchor = unsafe cmark_node_new(CMARK_NODE_CUSTOM_INLINE)
                unsafe cmark_node_set_on_enter(anchor, "<a id=\"\(identifier(words(of: node)))\"></a>")
                unsafe cmark_node_prepend_child(node, anchor)
            case CMARK_NODE_LINK:
                guard let address = unsafe cmark_node_get_url(node) else { continue }
                unsafe cmark_node_set_url(node, String(cString: address).replacing(".md", with: ""))
            default: break
            }
        }
    }

    /// Returns the text of a heading without its markup.
    private static func words(of heading: OpaquePointer) -> String {
        let walk = unsafe cmark_iter_new(heading)
        defer { unsafe cmark_iter_free(walk) }
        var words = ""
        while unsafe cmark_iter_next(walk) != CMARK_EVENT_DONE {
            guard let literal = unsafe cmark_node_get_literal(cmark_iter_get_node(walk)) else { continue }
            words += unsafe String(cString: literal)
        }
        return words
    }

    /// Returns the identifier of a heading: its letters and digits in lower case, with dashes for blanks.
    private static func identifier(_ heading: String) -> String {
        String(heading.lowercased().compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
    }
}
