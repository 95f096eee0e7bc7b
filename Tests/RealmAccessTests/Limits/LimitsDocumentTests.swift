// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmTestSupport
import Testing

@Suite struct LimitsDocumentTests {
    @Test func `docs/limits.md describes every limit, and no other`() throws {
        let file = Fixtures.packageRoot.appendingPathComponent("docs/limits.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let described = rows.flatMap { row in
            let names = row.split(separator: "|").first ?? ""
            return names.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
        #expect(described.sorted() == Limits.entries.map(\.name).sorted())
    }
}
