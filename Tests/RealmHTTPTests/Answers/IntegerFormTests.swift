// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// `ints=string`: every integer of an answer is text, also those that are the answer's own.
@Suite struct IntegerFormTests {
    private static let server = Result { try TestServer(["links", "lists", "store"]) }

    @Test(arguments: [
        "links/objects/Person?limit=3&count=exact", "links/objects/Person?indexOf=73&sort=-id",
        "links/objects/Person?indexOfWhere=id%20%3E%2020", "links/objects/Person?sectionBy=id:floor(50)&count=exact",
        "links/objects/Person/73", "links/objects/Person/73/dogs?count=exact", "links/objects/Person/73/id",
        "links/aggregate/Person?ops=count,min:id,sum:id", "lists/objects/Parent?count=exact&limit=20",
    ])
    func `no number is left`(_ target: String) throws {
        let server = try IntegerFormTests.server.get()
        let plain = try server.get("/v1/realms/" + target)
        let texts = try server.get("/v1/realms/" + target + (target.contains("?") ? "&" : "?") + "ints=string")
        #expect(texts.status == 200, "\(texts.text)")
        let left = texts.text.matches(of: try Regex(#"[:\[,]-?[0-9]+[,}\]]"#)).map { String(texts.text[$0.range]) }
        #expect(left.isEmpty, "\(left.prefix(3))")
        #expect(plain.text.contains(try Regex(#"[:\[,]-?[0-9]+[,}\]]"#)))
    }

    @Test func `a document describes one form`() throws {
        let server = try IntegerFormTests.server.get()
        for path in ["/v1/openapi.json", "/v1/realms/links/openapi.json"] {
            let number = try server.get(path)
            #expect(try server.get(path + "?ints=number").text == number.text)
            let string = try server.get(path + "?ints=string")
            #expect(string["ETag"] != number["ETag"])
            #expect(countSchema(number)?["type"]?.text == "integer")
            #expect(countSchema(string)?["type"]?.text == "string")
            // The description of a realm leaves out a parameter that has one value, which is the default.
            #expect(intsValues(number) == (path.contains("realms") ? nil : ["number"]))
            #expect(intsValues(string) == ["string"])
            #expect(try server.get(path + "?ints=text").code == "invalid_parameter")
            #expect(try server.get(path + "?int=text").code == "unknown_parameter")
        }
        let realm = try server.get("/v1/realms/links/openapi.json?ints=string")
        let person = realm.json["components"]?["schemas"]?["Person"]
        #expect(person?["properties"]?["id"]?["type"]?.text == "string")
    }

    private func components(_ answer: HTTPClient.Answer, _ kind: String) -> ParsedJSON? {
        answer.json["components"]?[kind]
    }

    private func countSchema(_ answer: HTTPClient.Answer) -> ParsedJSON? {
        let page = components(answer, "schemas")?["ObjectPage"] ?? components(answer, "schemas")?["PersonPage"]
        return page?["properties"]?["count"]
    }

    private func intsValues(_ answer: HTTPClient.Answer) -> [String]? {
        let parameter = components(answer, "parameters")?["Ints"]
        return parameter?["schema"]?["enum"]?.texts
    }

    @Test func `decimals are sectioned by remainders and steps, exactly`() throws {
        let server = try IntegerFormTests.server.get()
        for (function, step) in [("mod", 10), ("floor", 10), ("mod", 3), ("floor", 25)] {
            let answer = try server.get(
                "/v1/realms/store/objects/Product?sectionBy=price:\(function)(\(step))&limit=1000&fields=price&count=exact")
            let sections = try #require(answer.json["sections"]?.elements, "\(answer.text)")
            var rows = 0
            var keys: Set<String> = []
            for section in sections {
                let key = try #require(section["key"]?.text)
                #expect(keys.insert(key).inserted, "two sections \(key)")
                for item in try #require(section["items"]?.elements) {
                    let price = try #require(item["price"]?.text.flatMap { Decimal(string: $0) })
                    var quotient = price / Decimal(step)
                    var whole = Decimal()
                    unsafe NSDecimalRound(&whole, &quotient, 0, .down)
                    let floor = whole * Decimal(step)
                    #expect(Decimal(string: key) == (function == "mod" ? price - floor : floor), "\(price) \(function) \(step)")
                    rows += 1
                }
            }
            #expect(rows == answer.json["count"]?.int)
            #expect(rows > 300)
        }
    }
}
