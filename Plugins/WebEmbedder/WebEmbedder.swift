// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes a Swift file with the contents of other files as literals.
///
/// Arguments: the file to write, a folder with the files of the console, the files of the client, Markdown files that become HTML, and
/// other files, which become base64.
/// Texts rather than arrays of bytes, because the compiler takes seconds for every hundred KiB of an array.
@main
enum WebEmbedder {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
        guard arguments.count >= 2 else { throw Failure.usage }
        let web = try files(below: arguments[1]).map { file in
            (name: String(file.path.dropFirst(arguments[1].path.count + 1)), text: try text(of: file))
        }
        let others = arguments.dropFirst(2)
        let client = try others.filter { ["js", "ts"].contains($0.pathExtension) }.map { file in
            (name: file.lastPathComponent.replacing("realm-rest.", with: "client."), text: try text(of: file))
        }
        let documents = try others.filter { $0.pathExtension == "md" }.map { file in
            (name: file.deletingPathExtension().lastPathComponent, text: Markdown(try text(of: file)).html)
        }
        let samples = try others.filter { $0.pathExtension == "gz" }.map { file in
            (name: file.lastPathComponent, text: try Data(contentsOf: file).base64EncodedString())
        }
        let source = """
            // Written by WebEmbedder; changes are lost.

            extension EmbeddedFile {
                /// The files of the console, by their paths in its folder.
                package static let console: [EmbeddedFile] = [
            \(web.map(entry).joined())    ]

                /// The client for JavaScript with its types, by the names that it is served by.
                package static let client: [EmbeddedFile] = [
            \(client.map(entry).joined())    ]

                /// The documents as HTML, by their names.
                package static let documents: [EmbeddedFile] = [
            \(documents.map(entry).joined())    ]

                /// The samples as base64, by their names.
                package static let samples: [EmbeddedFile] = [
            \(samples.map(entry).joined())    ]
            }

            """
        try Data(source.utf8).write(to: arguments[0])
    }

    /// Why nothing was written.
    enum Failure: Error, CustomStringConvertible {
        case usage
        case notText(String)

        var description: String {
            switch self {
            case .usage: return "usage: WebEmbedder OUTPUT FOLDER [FILE …]"
            case .notText(let path): return "\(path) is not UTF-8, and only texts can be embedded"
            }
        }
    }

    /// Returns all files below a folder, without those of editors.
    private static func files(below folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return all.filter { !$0.hasDirectoryPath && !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }
    }

    /// Reads a text without changing a byte of it.
    private static func text(of file: URL) throws -> String {
        guard let text = String(validating: try Data(contentsOf: file), as: UTF8.self) else { throw Failure.notText(file.path) }
        return text
    }

    /// Returns the element of the array literal for one file.
    private static func entry(_ file: (name: String, text: String)) -> String {
        "        EmbeddedFile(\(literal(file.name)), \(literal(file.text))),\n"
    }

    /// Returns a text as a literal of one line.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": literal += "\\\\"
            case "\"": literal += "\\\""
            case "\n": literal += "\\n"
            default:
                if scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.properties.generalCategory == .format {
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    literal.unicodeScalars.append(scalar)
                }
            }
        }
        return literal + "\""
    }
}
