// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The API reference as a page, made of the description that programs read.
struct APIPage {
    /// The API description.
    private let document: DocumentValue

    /// Prepares the page of a description.
    init(_ document: DocumentValue) { self.document = document }

    /// One operation of the description, with its path and method.
    private struct Operation {
        let path: String
        let method: String
        let value: DocumentValue

        /// The name of the operation, which links lead to.
        var id: String { value["operationId"]?.text ?? "" }
        /// The group that it belongs to.
        var tag: String { value["tags"]?.elements.first?.text ?? "" }
    }

    var html: String {
        DocumentPages.page("API", section: "api") { page in
            page.element("h1", text: "API")
            page.element("p") { text in
                text.prose(
                    "All requests that this server takes. Programs read the same in `/v1/openapi.json`, and with the classes of a realm in "
                        + "`/v1/realms/{realm}/openapi.json`.")
            }
            let operations = operations
            for tag in APIPage.tags(of: operations) {
                let members = operations.filter { $0.tag == tag }
                page.element("h2", ("id", tag), text: tag.prefix(1).uppercased() + tag.dropFirst())
                page.element("ul") { list in
                    for operation in members {
                        list.element("li") { item in
                            item.link("\(operation.method.uppercased()) \(operation.path)", to: "#" + operation.id)
                            item.text(": " + (operation.value["summary"]?.text ?? ""))
                        }
                    }
                }
                for operation in members { write(operation, to: &page) }
            }
        }
    }

    /// All operations in the order of the description.
    private var operations: [Operation] {
        (document["paths"]?.members ?? []).flatMap { path in
            path.value.members.filter { $0.value["operationId"] != nil }.map {
                Operation(path: path.name, method: $0.name, value: $0.value)
            }
        }
    }

    /// Returns the groups of operations in the order in which they come first.
    private static func tags(of operations: [Operation]) -> [String] {
        operations.reduce(into: []) { if !$0.contains($1.tag) { $0.append($1.tag) } }
    }

    private func write(_ operation: Operation, to page: inout HTMLWriter) {
        page.element("section", ("id", operation.id)) { section in
            section.element("h3") { $0.element("code", text: "\(operation.method.uppercased()) \(operation.path)") }
            section.element("p") { paragraph in
                paragraph.text((operation.value["summary"]?.text ?? "") + " ")
                paragraph.link("Try it", to: "/#/-/api?operation=" + operation.id)
            }
            writeParameters(of: operation, to: &section)
            if let body = operation.value["requestBody"] {
                section.element("h4", text: "Body")
                section.element("p") { write(content: resolved(body), to: &$0) }
            }
            section.element("h4", text: "Answers")
            section.element("table") { table in
                table.element("tbody") { rows in
                    for answer in operation.value["responses"]?.members ?? [] {
                        rows.element("tr") { row in
                            row.element("td", text: answer.name)
                            row.element("td") { cell in
                                let value = resolved(answer.value)
                                cell.text((value["description"]?.text ?? "") + " ")
                                write(content: value, to: &cell)
                            }
                        }
                    }
                }
            }
            writeProblems(of: operation, to: &section)
        }
    }

    /// Writes the table of an operation's parameters.
    private func writeParameters(of operation: Operation, to section: inout HTMLWriter) {
        let parameters = (operation.value["parameters"]?.elements ?? []).map { resolved($0) }
        guard !parameters.isEmpty else { return }
        section.element("h4", text: "Parameters")
        section.element("table") { table in
            table.element("tbody") { rows in
                for parameter in parameters {
                    rows.element("tr") { row in
                        row.element("td") { $0.element("code", text: parameter["name"]?.text ?? "") }
                        row.element("td", text: APIPage.place(of: parameter))
                        row.element("td", text: (parameter["description"]?.text ?? "") + choices(of: parameter["schema"]))
                    }
                }
            }
        }
    }

    /// Returns the place of a parameter in a request.
    private static func place(of parameter: DocumentValue) -> String {
        switch parameter["in"]?.text {
        case "path": return "path"
        case "header": return "header field"
        default: return "URL"
        }
    }

    /// Returns the values that a parameter can have, where they are listed.
    private func choices(of schema: DocumentValue?) -> String {
        let choices = schema?["enum"]?.elements.compactMap(\.text) ?? []
        return choices.isEmpty ? "" : " One of: " + choices.joined(separator: ", ") + "."
    }

    /// Writes the media types of a body with the names of their schemas.
    private func write(content value: DocumentValue, to writer: inout HTMLWriter) {
        for (index, type) in (value["content"]?.members ?? []).enumerated() {
            if index > 0 { writer.text(", ") }
            writer.element("code", text: type.name)
            if let reference = type.value["schema"]?["$ref"]?.text?.split(separator: "/").last { writer.text(" (\(reference))") }
        }
    }

    /// Writes the problems that an operation can be answered with, with links to their pages.
    private func writeProblems(of operation: Operation, to section: inout HTMLWriter) {
        let codes = operation.value["x-problem-codes"]?.elements.compactMap(\.text) ?? []
        guard !codes.isEmpty else { return }
        section.element("p") { paragraph in
            paragraph.text("Problems: ")
            for (index, code) in codes.enumerated() {
                if index > 0 { paragraph.text(", ") }
                paragraph.link(code, to: "/docs/problems/" + code)
            }
        }
    }

    /// Returns the shared part that a value refers to, or the value itself.
    private func resolved(_ value: DocumentValue) -> DocumentValue {
        guard let reference = value["$ref"]?.text else { return value }
        return reference.split(separator: "/").dropFirst().reduce(Optional(document)) { $0?[String($1)] } ?? value
    }
}
