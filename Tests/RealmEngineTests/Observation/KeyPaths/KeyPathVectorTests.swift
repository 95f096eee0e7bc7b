// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Vectors: key paths")
struct KeyPathVectorTests {
    @Test func `key paths lead where the reference engine follows them, and fail where it refuses them`() throws {
        let vectors = try NotificationVectors.vectors("key-paths")
        #expect(vectors.count >= 14)
        for vector in vectors {
            let realm = try VectorRealm(schema: vector["schema"]?.elements ?? [])
            let snapshot = realm.database.current.snapshot
            let table = try #require(snapshot.classTable(named: vector["class"]?.text ?? ""))
            let paths = (vector["keyPaths"]?.elements ?? []).compactMap(\.text)
            let label = "\(vector["id"]?.text ?? "")"
            let expected = vector["expect"]?["resolved"]?.elements?.compactMap(\.text)
            do {
                let filter = try KeyPathFilter.resolve(
                    paths, of: table, in: snapshot, names: realm.database.backlinkNames, acceptsLinks: false)
                #expect(filter.chains.map { KeyPathVectorTests.text($0, snapshot) }.sorted() == expected?.sorted(), "\(label)")
            } catch {
                #expect(error.kind.rawValue == vector["expect"]?["error"]?.text, "\(label)")
            }
        }
    }

    private static func text(_ chain: [KeyPathFilter.Step], _ snapshot: Snapshot) -> String {
        chain.map { step in
            let name = snapshot.table(step.table)?.className ?? "?"
            switch step {
            case .property(let table, let column): return "\(name):\(snapshot.table(table)?.column(column)?.name ?? "?")"
            case .linkingObjects(_, let origin, let column):
                let table = snapshot.table(origin)
                return "\(name):@links.\(table?.className ?? "?").\(table?.column(column)?.name ?? "?")"
            }
        }.joined(separator: ".")
    }

    @Test(arguments: [
        ("", "malformed"), (".a", "malformed"), ("name.", "malformed"), ("boss..name", "malformed"), ("*x", "malformed"),
        ("name.*", "notTraversable"), ("boss.nope", "unknownProperty"), ("*.nope", "noMatch"),
        ("*.boss.nope", "unknownProperty"),
        ("*.city.x", "notTraversable"), ("any.x", "notTraversable"),
        ("@links.Person", "malformed"), ("@links.Person.nope", "unknownProperty"),
        ("boss" + String(repeating: ".boss", count: 300), "malformed"),
        ("*" + String(repeating: ".*", count: 120), "tooMany"),
    ])
    func `what is no key path is refused, with the part that is wrong`(_ path: String, _ kind: String) throws {
        let realm = try VectorRealm(classes: TestSchema.classes)
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Person"))
        #expect {
            try KeyPathFilter.resolve([path], of: table, in: snapshot, names: .none)
        } throws: { error in
            (error as? KeyPathFilter.Failure)?.kind.rawValue == kind
        }
    }

    @Test func `stars stand for every property, and those behind links`() throws {
        let realm = try VectorRealm(classes: TestSchema.classes)
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Person"))
        func chains(_ path: String) throws -> [String] {
            try KeyPathFilter.resolve([path], of: table, in: snapshot, names: .none).chains.map {
                KeyPathVectorTests.text($0, snapshot)
            }
        }
        #expect(try chains("*").count == table.columns.count)
        let behind = try chains("boss.*")
        #expect(!behind.isEmpty && behind.allSatisfy { $0.hasPrefix("Person:boss.Person:") })
        let two = try chains("*.*")
        #expect(two.contains("Person:name") && two.contains("Person:boss.Person:name") && !two.contains("Person:boss"))
        #expect(
            try chains("*.city") == ["Person:address.Address:city", "Person:homes.Address:city", "Person:places.Address:city"])
        #expect(try chains("@links.Person.boss.name") == ["Person:@links.Person.boss.Person:name"])
    }
}
