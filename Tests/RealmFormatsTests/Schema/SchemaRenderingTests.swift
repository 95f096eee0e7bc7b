// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Schema renderings")
struct SchemaRenderingTests {
    static let fixtures = Fixtures.namesWithDump.filter { name in
        !Fixtures.isEncrypted(name)
    }

    @Test(arguments: fixtures)
    func `the document has the classes and properties that the writer of the file declared`(_ name: String) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
        let written = try ParsedJSON(parsing: SchemaFormat.json.text(RealmSchema(snapshot)))
        let expected = try #require(try Fixtures.dump(name))
        #expect(text(written["schemaVersion"]) == text(expected["schemaVersion"]))
        let classes = try #require(written["classes"]?.elements)
        let wanted = try #require(expected["classes"]?.elements)
        #expect(classes.count == wanted.count)
        for one in wanted {
            let found = try #require(classes.first { $0["name"]?.text == one["name"]?.text })
            for member in ["type", "primaryKey", "properties"] {
                #expect(text(found[member]) == text(spelledOut(one[member])), "\(one["name"] ?? "") \(member)")
            }
        }
    }

    @Test(arguments: SchemaFormat.allCases)
    func `every rendering names every class and property that needs no mapping`(_ format: SchemaFormat) throws {
        let schema = RealmSchema(try Snapshot(file: try RealmFile(path: try Fixtures.path("store"))))
        let text = format.text(schema)
        for one in schema.classes {
            #expect(text.contains(one.name))
            for property in one.properties { #expect(text.contains(property.name), "\(one.name).\(property.name)") }
            #expect(format.text(one).contains(one.name))
        }
    }

    @Test func `names that a language does not take are mapped and the stored name is told`() {
        let odd = ClassSchema(
            name: "my class", kind: .topLevel, primaryKey: nil,
            properties: [
                PropertySchema(name: "class", type: .int, collection: nil, isOptional: false, index: nil, objectType: nil),
                PropertySchema(name: "a$b\"c", type: .string, collection: .list, isOptional: true, index: nil, objectType: nil),
            ],
            backlinks: [])
        let swift = SchemaFormat.swift.text(odd)
        #expect(swift.contains("class my_class: Object"))
        #expect(swift.contains("\"my class\""))
        #expect(swift.contains("var `class`: Int"))
        #expect(swift.contains("override class func propertiesMapping() -> [String: String] { [\"a_b_c\": \"a$b\\\"c\"] }"))
        #expect(SchemaFormat.kotlin.text(odd).contains("@PersistedName(\"a\\$b\\\"c\")"))
        #expect(SchemaFormat.typescript.text(odd).contains("\"a$b\\\"c\": Array<string | null>;"))
    }

    @Test func `properties whose names are mapped to the same identifier get numbers`() {
        let alike = ClassSchema(
            name: "A", kind: .topLevel, primaryKey: nil,
            properties: ["a b", "a_b", "a-b"].map {
                PropertySchema(name: $0, type: .int, collection: nil, isOptional: false, index: nil, objectType: nil)
            },
            backlinks: [])
        let swift = SchemaFormat.swift.text(alike)
        #expect(swift.contains("[\"a_b2\": \"a b\", \"a_b3\": \"a-b\"]"))
        for name in ["a_b2", "a_b", "a_b3"] { #expect(swift.contains("var \(name): Int")) }
        let kotlin = SchemaFormat.kotlin.text(alike)
        #expect(kotlin.contains("@PersistedName(\"a b\")\n    var a_b2: Long"))
        #expect(kotlin.contains("    var a_b: Long"))
        #expect(kotlin.contains("@PersistedName(\"a-b\")\n    var a_b3: Long"))
    }

    @Test func `names in a diagram end neither their line nor their class`() {
        let odd = ClassSchema(
            name: "A", kind: .topLevel, primaryKey: nil,
            properties: [
                PropertySchema(name: "a\n}b", type: .int, collection: nil, isOptional: false, index: nil, objectType: nil),
                PropertySchema(name: "c;d", type: .object, collection: nil, isOptional: true, index: nil, objectType: "B{"),
            ],
            backlinks: [])
        #expect(
            SchemaFormat.mermaid.text(odd)
                == "classDiagram\n  class A {\n    +int a__b\n    +B_? c_d\n  }\n  A --> \"0..1\" B_ : c_d\n")
    }

    /// The expected dumps leave `objectType` out where it is null.
    private func spelledOut(_ member: ParsedJSON?) -> ParsedJSON? {
        guard case .array(let properties) = member else { return member }
        return .array(
            properties.map { property in
                .object(
                    (property.members ?? []) + (property["objectType"] == nil ? [.init(name: "objectType", value: .null)] : []))
            })
    }

    private func text(_ value: ParsedJSON?) -> String { (value ?? .null).sortedByName.serialized }
}
