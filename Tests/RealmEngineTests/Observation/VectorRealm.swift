// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmStorage
import RealmTestSupport

/// A realm in memory with the schema of a vector.
final class VectorRealm: Sendable {
    let realm: EngineRealm

    var database: Database { realm.database }

    init(schema: [JSONValue]) throws {
        var names: [String: [String: String]] = [:]
        for one in schema {
            for property in one["properties"]?.elements ?? [] where property["type"]?.text == "linkingObjects" {
                names[one["name"]?.text ?? "", default: [:]][property["name"]?.text ?? ""] =
                    "\(property["objectType"]?.text ?? "").\(property["property"]?.text ?? "")"
            }
        }
        realm = try EngineRealm(schema.map(VectorRealm.classInput), backlinkNames: BacklinkNames(names))
    }

    init(classes: [ClassInput]) throws { realm = try EngineRealm(classes) }

    static func classInput(_ json: JSONValue) -> ClassInput {
        ClassInput(
            json["name"]?.text ?? "", type: json["embedded"] == .bool(true) ? "embedded" : nil,
            primaryKey: json["primaryKey"]?.text,
            (json["properties"]?.elements ?? []).filter { $0["type"]?.text != "linkingObjects" }.map(propertyInput))
    }

    static func propertyInput(_ json: JSONValue) -> PropertyInput {
        PropertyInput(
            json["name"]?.text ?? "", json["type"]?.text ?? "", collection: json["collection"]?.text,
            optional: json["optional"] == .bool(true) ? true : nil, objectType: json["objectType"]?.text)
    }
}
