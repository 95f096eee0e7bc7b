// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Compares a served realm with the dump of a fixture, and writes to it.
enum ServedDump {
    /// Compares numbers of objects, and the texts and integers of the first of them.
    static func compare(_ classes: [ParsedJSON], of realm: String, _ server: WriteServer) throws {
        for one in classes {
            let name = try #require(one["name"]?.text)
            let page = try server.get(path(name, realm) + "?count=exact&limit=50")
            #expect(page.json["count"]?.int == one["count"]?.int, "\(name): \(page.text.prefix(200))")
            for (item, expected) in zip(page.json["items"]?.elements ?? [], one["objects"]?.elements ?? []) {
                for (property, value) in expected["values"]?.members?.map({ ($0.name, $0.value) }) ?? [] {
                    if let text = value.text { #expect(item[property]?.text == text, "\(name).\(property)") }
                    if let number = value.integer, let found = item[property]?.integer { #expect(found == number) }
                }
            }
        }
    }

    /// Deletes an object of each class.
    static func deleteOne(_ classes: [ParsedJSON], of realm: String, _ server: WriteServer) throws {
        for one in classes where (one["count"]?.int ?? 0) > 0 {
            let path = path(try #require(one["name"]?.text), realm)
            let before = try server.get(path + "?count=exact&limit=0").json["count"]?.int ?? 0
            try server.done("DELETE", path + "?where=TRUEPREDICATE%20LIMIT(1)")
            #expect(try server.get(path + "?count=exact&limit=0").json["count"]?.int == before - 1)
        }
    }

    /// The path of the objects of a class.
    private static func path(_ className: String, _ realm: String) -> String {
        realm + "/objects/" + (className.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? className)
    }
}
