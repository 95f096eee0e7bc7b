// SPDX-License-Identifier: Apache-2.0

internal import RealmConsole
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The pages below `/docs/`, made from documents and from the data of the server: the table of problems and the API description.
struct DocumentPages: Sendable {
    /// Returns the API description of the server.
    let description: @Sendable () -> DocumentValue

    private static let documents = Dictionary(
        texts: EmbeddedFile.documents.map { ($0.path.description, $0.text) }, uniquingKeysWith: { first, _ in first })

    /// Returns a page as HTML; nil when there is none.
    ///
    /// - Parameter path: The path below `/docs/`.
    func page(_ path: String) -> String? {
        switch path {
        case "": return DocumentPages.index
        case "problems/": return DocumentPages.problems
        case "api": return APIPage(description()).html
        case "query":
            return DocumentPages.documents["query"].map { text in
                DocumentPages.page("Queries", section: "query") { $0.elements(text) }
            }
        default:
            guard path.hasPrefix("problems/"), let code = ProblemCode(rawValue: String(path.dropFirst("problems/".count))) else {
                return nil
            }
            return DocumentPages.page(of: code)
        }
    }

    /// Returns a page with the frame that all have.
    ///
    /// - Parameters:
    ///   - title: The title, for the window.
    ///   - section: The part of the documents that it belongs to, as in the path; empty for none.
    static func page(_ title: String, section: String, _ content: (inout HTMLWriter) -> Void) -> String {
        var writer = HTMLWriter()
        writer.elements("<!doctype html>\n<html lang=\"en\">\n")
        writer.element("head") { head in
            head.void("meta", ("charset", "utf-8"))
            head.void("meta", ("name", "viewport"), ("content", "width=device-width, initial-scale=1"))
            head.void("meta", ("name", "color-scheme"), ("content", "light dark"))
            head.element("title", text: title + " · realm-rest")
            head.void("link", ("rel", "icon"), ("href", "/console/icon.svg"))
            head.void("link", ("rel", "stylesheet"), ("href", "/console/core/console.css"))
            head.void("link", ("rel", "stylesheet"), ("href", "/console/docs/docs.css"))
        }
        writer.element("body") { body in
            body.element("header", ("class", "top")) { header in
                header.element("a", ("class", "brand"), ("href", "/")) { brand in
                    brand.void("img", ("src", "/console/icon.svg"), ("alt", ""), ("width", "24"), ("height", "24"))
                    brand.text("realm-rest")
                }
                header.element("nav", ("aria-label", "Documents")) { navigation in
                    for (name, title) in sections { navigate(&navigation, to: name, title, isCurrent: name == section) }
                }
            }
            body.element("main", ("class", "document"), content: content)
        }
        writer.elements("</html>\n")
        return writer.html
    }

    /// The parts of the documents: their paths and titles.
    private static let sections = [("query", "Queries"), ("api", "API"), ("problems/", "Problems")]

    /// Writes a link of the navigation.
    private static func navigate(_ writer: inout HTMLWriter, to name: String, _ title: String, isCurrent: Bool) {
        guard isCurrent else { return writer.link(title, to: "/docs/" + name) }
        writer.element("a", ("href", "/docs/" + name), ("aria-current", "page"), text: title)
    }

    /// The page that leads to all others.
    private static var index: String {
        page("Documents", section: "") { page in
            page.element("h1", text: "Documents")
            page.element("ul") { list in
                for (name, title, about) in [
                    ("/docs/query", "Queries", "the syntax of `where`, `sort` and `distinct`"),
                    ("/docs/api", "API", "every request of this server, with its parameters and responses"),
                    ("/docs/problems/", "Problems", "the meaning of each problem and how to fix it"),
                    ("/", "Console", "the realms of this server, to look at and to change"),
                    ("/v1/openapi.json", "openapi.json", "the description of the API for programs"),
                ] {
                    list.element("li") { item in
                        item.link(title, to: name)
                        item.prose(": " + about)
                    }
                }
            }
        }
    }
}
