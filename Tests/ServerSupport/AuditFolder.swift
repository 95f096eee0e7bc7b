// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import RealmTestSupport

/// A folder with an audit log, which is removed in the end.
package final class AuditFolder: Sendable {
    package let folder: String
    package var path: String { folder + "/audit.log" }

    package init() throws {
        folder = NSTemporaryDirectory() + "realm-rest-audit-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The names of the files of the log, the oldest first.
    package func names() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("audit.log") }
        return names.sorted { AuditFolder.number($0) > AuditFolder.number($1) }
    }

    private static func number(_ name: String) -> Int { Int(name.dropFirst("audit.log.".count)) ?? 0 }

    /// The text of all files of the log, the oldest first.
    package func text() throws -> String {
        try names().map { try String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }.joined()
    }

    /// All lines, the oldest first. What is not a whole line of JSON is an error.
    package func lines() throws -> [ParsedJSON] {
        let text = try text()
        guard text.isEmpty || text.hasSuffix("\n") else { throw HTTPClient.Failure(description: "an unfinished line") }
        return try text.split(separator: "\n").map { try ParsedJSON(parsing: String($0)) }
    }

    /// The only line of a request, which comes within a moment.
    package func line(of id: String) throws -> ParsedJSON {
        var found: [ParsedJSON] = []
        _ = try eventually(seconds: 20) {
            found = try lines().filter { $0["id"]?.text == id && $0["kind"] != "transaction" }
            return !found.isEmpty
        }
        guard found.count == 1 else { throw HTTPClient.Failure(description: "\(found.count) lines of \(id): \(found)") }
        return found[0]
    }
}
