// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport

/// Cases recorded from the reference engine: a query, its arguments, and what it must yield.
struct QueryVectors: Sendable {
    struct Case: Sendable {
        let group: String
        let suite: String
        let number: Int
        let className: String
        let query: String
        let arguments: [JSONValue]
        let json: JSONValue

        /// The category of the expected error.
        var error: String? { json["error"]?.text }
        var isParseOnly: Bool { json["parseOnly"] == .bool(true) }
        var quirk: String? { json["quirk"]?.text }
        var label: String { "\(group)/\(suite) #\(number): \(query) \(arguments.isEmpty ? "" : "\(arguments)")" }
    }

    struct Suite: Sendable {
        let group: String
        let name: String
        let json: JSONValue
        let cases: [Case]

        /// The file that holds schema and objects.
        var realmPath: String { QueryVectors.folder.appendingPathComponent("realms/\(group)--\(slug).realm").path }

        private var slug: String {
            var slug = ""
            for character in name.lowercased() {
                if character.isASCII, character.isLetter || character.isNumber {
                    slug.append(character)
                } else if !slug.hasSuffix("-"), !slug.isEmpty {
                    slug.append("-")
                }
            }
            return slug
        }
    }

    let group: String
    let suites: [Suite]

    /// The vectors beside the checkout where they are at hand, else those that are kept in the repository.
    static let folder: URL = Fixtures.shared?.appendingPathComponent("vectors/query")
        ?? Fixtures.packageRoot.appendingPathComponent("Tests/RealmQueryTests/Vectors")

    static let groups: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }()

    init(group: String) throws {
        let data = try Data(contentsOf: QueryVectors.folder.appendingPathComponent("\(group).json"))
        let document = try JSONValue(parsing: Array(data))
        self.group = group
        suites = (document["suites"]?.elements ?? []).map { suite in
            let name = suite["name"]?.text ?? ""
            let cases = (suite["cases"]?.elements ?? []).enumerated().map { number, json in
                Case(
                    group: group, suite: name, number: number, className: json["class"]?.text ?? "",
                    query: json["query"]?.text ?? "", arguments: json["args"]?.elements ?? [], json: json)
            }
            return Suite(group: group, name: name, json: suite, cases: cases)
        }
    }

    var cases: [Case] { suites.flatMap(\.cases) }
}
