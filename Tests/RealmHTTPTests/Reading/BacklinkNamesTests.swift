// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Names of linking objects, which the configuration gives and the file does not have.
@Suite struct BacklinkNamesTests {
    private static func server(_ names: [ByteText: [ByteText: String]]) throws -> TestServer {
        try TestServer(["links"]) { $0.backlinkNames = ["links": BacklinkNames(names)] }
    }

    private static let shared = Result { try server(["Dog": ["owners": "Person.dogs"], "Person": ["pets": "Dog.owner"]]) }
    private let dogs = "/v1/realms/links/objects/Dog"

    @Test(arguments: [
        ("?limit=5&fields=name,NAME", "owners", "@links.Person.dogs"), ("?limit=3&expand=NAME", "owners", "@links.Person.dogs"),
        ("?limit=3&fields=NAME.name", "owners", "@links.Person.dogs"),
        ("?where=NAME.@count%20%3E%201", "owners", "@links.Person.dogs"),
        ("?where=ANY%20NAME.name%20%3D%3D%20'P4'", "owners", "@links.Person.dogs"),
        ("?indexOfWhere=ANY%20NAME.id%20%3E%20100", "owners", "@links.Person.dogs"),
        ("/@k0/NAME?limit=4", "owners", "@links.Person.dogs"),
        ("/@k0/NAME?where=id%20%3E%2050&format=csv", "owners", "@links.Person.dogs"),
    ])
    func `a name stands wherever the long form does`(_ target: String, _ name: String, _ long: String) throws {
        let server = try BacklinkNamesTests.shared.get()
        func answer(_ text: String) throws -> HTTPClient.Answer {
            try server.get(dogs + target.split(separator: "NAME", omittingEmptySubsequences: false).joined(separator: text))
        }
        // In paths the long form has slashes.
        let isPath = target.hasPrefix("/")
        let named = try answer(name)
        let plain = try answer(isPath ? "@links/Person/dogs" : long)
        #expect(named.status == 200, "\(named.text)")
        #expect(plain.status == 200, "\(plain.text)")
        guard !isPath else {
            let (left, right) = (named.json["items"]?.elements, plain.json["items"]?.elements)
            #expect(left?.count == right?.count)
            #expect(left != nil || named.text == plain.text)
            return
        }
        // Cursors belong to their query, so what follows the rows differs.
        func rows(_ answer: HTTPClient.Answer) -> String {
            answer.text.split(separator: "],\"next\"").first.map(String.init) ?? ""
        }
        let renamed = rows(plain).split(separator: "\"\(long)\"", omittingEmptySubsequences: false).joined(
            separator: "\"\(name)\"")
        #expect(rows(named) == renamed)
    }

    @Test(arguments: ["/@k0/@links/Person/dogs?limit=4", "/@k0/@links/Person/dogs/@aggregate?ops=count", "/@k0?fields=name"])
    func `the sign in a path may be encoded`(_ path: String) throws {
        let server = try BacklinkNamesTests.shared.get()
        let plain = try server.get(dogs + path)
        let encoded = try server.get(dogs + path.split(separator: "@", omittingEmptySubsequences: false).joined(separator: "%40"))
        #expect(plain.status == 200)
        #expect(encoded.status == 200)
        // Cursors belong to their path as it was sent.
        func rows(_ answer: HTTPClient.Answer) -> Substring? { answer.text.split(separator: "\"next\"").first }
        #expect(rows(encoded) == rows(plain))
    }

    @Test func `names chain, and stand in the schema`() throws {
        let server = try BacklinkNamesTests.shared.get()
        #expect(try server.get(dogs + "?where=ANY%20owners.pets.name%20BEGINSWITH%20'D'&limit=1").status == 200)
        #expect(try server.get("/v1/realms/links/aggregate/Person?ops=count&where=pets.@count%20%3D%3D%200").status == 200)
        let schema = try server.get("/v1/realms/links/schema/Dog")
        #expect(schema.text.contains(#"{"class":"Person","property":"dogs","name":"owners"}"#))
        #expect(try server.get("/v1/realms/links/schema?format=swift").text.contains("var owners: LinkingObjects<Person>"))
    }

    @Test func `a name means nothing in another class, or without configuration`() throws {
        let server = try BacklinkNamesTests.shared.get()
        #expect(try server.get("/v1/realms/links/objects/Person?fields=owners").code == "unknown_key_path")
        #expect(try TestServer(["links"]).get(dogs + "?fields=owners").code == "unknown_key_path")
    }

    @Test(arguments: [
        (["Dgo": ["owners": "Person.dogs"]], "there is no class 'Dgo'"),
        (["Dog": ["owners": "Person.dgos"]], "no property 'Person.dgos' links to class Dog"),
        (["Dog": ["owners": "Person.friends"]], "no property 'Person.friends' links to class Dog"),
        (["Dog": ["name": "Person.dogs"]], "class Dog has a property 'name' already"),
        (["Dog": ["o.w": "Person.dogs"]], "'o.w' is not a name"),
        (["Dog": ["": "Person.dogs"]], "'' is not a name"),
    ])
    func `names that do not fit stop the start`(_ names: [ByteText: [ByteText: String]], _ detail: String) throws {
        let failure = #expect(throws: RealmServer.Failure.self) { try BacklinkNamesTests.server(names) }
        #expect(failure?.description.hasSuffix("links.realm: 'backlinkNames' does not fit the file: " + detail) == true)
    }

    @Test(arguments: [
        "[]", #"{"Dog":3}"#, #"{"Dog":{"owners":3}}"#, #"{"Dog":{"owners":"Person"}}"#, #"{"Dog":{"owners":["Person.dogs"]}}"#,
        "{", "",
    ])
    func `other documents are refused`(_ text: String) {
        #expect(throws: Problem.self) { try BacklinkNames(json: Array(text.utf8)) }
    }

    @Test func `documents are read`() throws {
        let names = try BacklinkNames(json: Array(#"{"Dog":{"owners":"Person.dogs","keepers":"Person.petSet"},"Cat":{}}"#.utf8))
        #expect(names.byClass == ["Dog": ["owners": "Person.dogs", "keepers": "Person.petSet"]])
    }
}
