// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Synchronization

/// Cases recorded from the reference engine: a query, its arguments, and what it must yield.
package struct QueryVectors: Sendable {
    package struct Case: Sendable {
        package let group: String
        package let suite: String
        package let number: Int
        package let className: String
        package let query: String
        package let arguments: [ParsedJSON]
        package let json: ParsedJSON

        /// The category of the expected error.
        package var error: String? { json["error"]?.text }
        package var isParseOnly: Bool { json["parseOnly"] == .bool(true) }
        package var quirk: String? { json["quirk"]?.text }
        package var label: String { "\(group)/\(suite) #\(number): \(query) \(arguments.isEmpty ? "" : "\(arguments)")" }
    }

    package struct Suite: Sendable {
        package let group: String
        package let name: String
        package let json: ParsedJSON
        package let cases: [Case]

        /// The file that holds schema and objects.
        package var realmPath: String { QueryVectors.folder.appendingPathComponent("realms/\(group)--\(slug).realm").path }

        /// The name that a server gives to that file.
        package var realmName: String { "\(group)--\(slug)" }

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

    package let group: String
    package let suites: [Suite]

    /// The vectors beside the checkout where they are at hand, else those that are kept in the repository.
    package static let folder: URL =
        Fixtures.shared?.appendingPathComponent("vectors/query")
        ?? Fixtures.packageRoot.appendingPathComponent("Tests/RealmQueryTests/Vectors")

    package static let groups: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }()

    /// Groups that were read: many tests go through all of them.
    private static let known = Mutex<[String: QueryVectors]>([:])

    /// Reads a group, once in the life of the process.
    package init(group: String) throws {
        if let known = QueryVectors.known.withLock({ $0[group] }) {
            self = known
            return
        }
        let read = try QueryVectors(reading: group)
        QueryVectors.known.withLock { $0[group] = read }
        self = read
    }

    private init(reading group: String) throws {
        let data = try Data(contentsOf: QueryVectors.folder.appendingPathComponent("\(group).json"))
        let document = try ParsedJSON(parsing: Array(data))
        self.group = group
        suites = (document["suites"]?.elements ?? []).map { suite in
            let name = suite["name"]?.text ?? ""
            let cases = (suite["cases"]?.elements ?? []).enumerated().map { number, json in
                let json = VectorDepartures.adjusted(json, "\(group)/\(name)", number)
                return Case(
                    group: group, suite: name, number: number, className: json["class"]?.text ?? "",
                    query: json["query"]?.text ?? "", arguments: json["args"]?.elements ?? [], json: json)
            }
            return Suite(group: group, name: name, json: suite, cases: cases)
        }
    }

    package var cases: [Case] { suites.flatMap(\.cases) }
}
