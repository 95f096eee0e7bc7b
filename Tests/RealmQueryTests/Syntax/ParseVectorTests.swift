// SPDX-License-Identifier: Apache-2.0

import RealmQuery
import RealmTestSupport
import Testing

@Suite("Vectors: parsing")
struct ParseVectorTests {
    @Test func `all groups are there`() { #expect(QueryVectors.groups.count >= 41) }

    @Test(arguments: QueryVectors.groups)
    func `exactly the texts that the reference refuses are syntax errors`(_ group: String) throws {
        for entry in try QueryVectors(group: group).cases {
            do throws(QueryError) {
                _ = try Query.parse(entry.query)
                #expect(entry.error != "syntax", "\(entry.label)")
            } catch {
                #expect(error.category == .syntax)
                #expect(entry.error == "syntax", "\(entry.label): \(error)")
            }
        }
    }
}
