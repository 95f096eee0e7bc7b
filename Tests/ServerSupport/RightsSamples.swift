// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmHosting
package import RealmQuery
package import RealmStorage
package import RealmTestSupport
internal import Testing

/// What tests of rights have in common.
package enum RightsSamples {
    /// The roles of a configuration file.
    package static func book(_ yaml: String) throws -> RoleBook {
        var configuration = Configuration()
        try configuration.apply(text: yaml, ofFile: "/etc/realm-rest/realm-rest.yaml")
        return configuration.options.roles
    }

    /// What goes wrong with the roles of a configuration file, without its path.
    package static func refusal(_ yaml: String) throws -> String {
        let error = try #require(throws: ConfigurationError.self) { try book(yaml) }
        return error.description.replacing("/etc/realm-rest/realm-rest.yaml:", with: "")
    }

    /// A holder of roles with claims, which are JSON.
    package static func holder(_ roles: String..., claims: String = "{}", realm: String? = nil) throws -> RightsHolder {
        RightsHolder(roles: roles, claims: try RightsSamples.claims(claims), realm: realm)
    }

    /// Claims of their JSON.
    package static func claims(_ json: String) throws -> JSONObject {
        try #require(try JSONParser.parse(json, depthLimit: 20).object)
    }

    /// The primary keys of the objects of a class that rights show of a version, in their order; nil when the class is not there.
    package static func shown(
        _ rights: RealmRights, _ className: String, in snapshot: Snapshot, for action: RightsAction = .read
    ) throws -> [Int64]? {
        let view = rights.scope(of: snapshot, for: action).map { Snapshot($0) } ?? snapshot
        guard let table = view.classTable(named: className), let whole = snapshot.classTable(named: className) else { return nil }
        return try Query.all.bind(to: table, in: view).execute().map { try identifier($0, whole) }.sorted()
    }

    /// The number in the first property of an object.
    package static func identifier(_ key: ObjectKey, _ table: Table) throws -> Int64 {
        let row = try #require(try table.objects.find(key))
        guard case .int(let number) = try row.value(try #require(table.columns.first)) else { return -1 }
        return number
    }

    /// The names of the properties of a class that rights show of a version; nil when the class is not there.
    package static func properties(
        _ rights: RealmRights, _ className: String, in snapshot: Snapshot, for action: RightsAction = .read
    ) -> [String]? {
        let view = rights.scope(of: snapshot, for: action).map { Snapshot($0) } ?? snapshot
        return view.classTable(named: className)?.columns.map(\.name)
    }

    /// The objects that match any of some queries.
    package static func matching(
        _ alternatives: [RowRule.Alternative]?, _ className: String, in snapshot: Snapshot
    ) throws -> [Int64] {
        let table = try #require(snapshot.classTable(named: className))
        let all = try Query.all.bind(to: table, in: snapshot).execute()
        guard let alternatives else { return try all.map { try identifier($0, table) } }
        let rule = RowRule.make(alternatives, for: table, in: snapshot)
        return try all.filter { try rule.shows(try #require(try table.objects.find($0))) }.map { try identifier($0, table) }
    }

    /// A shop: orders of people, with lines and notes in them.
    package static func shop() throws -> EngineRealm {
        let realm = try EngineRealm([
            ClassInput(
                "Order", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("owner", "string"), PropertyInput("total", "int"),
                    PropertyInput("price", "double"), PropertyInput("open", "bool"), PropertyInput("margin", "int"),
                    PropertyInput("code", "uuid", optional: true), PropertyInput("day", "date", optional: true),
                    PropertyInput("mix", "mixed"), PropertyInput("note", "object", objectType: "Note"),
                    PropertyInput("product", "object", objectType: "Product"),
                ]),
            ClassInput("Product", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("name", "string")]),
            ClassInput("Note", type: "embedded", [PropertyInput("number", "int"), PropertyInput("secret", "string")]),
        ])
        try realm.write { session in
            for id in 1...6 {
                _ = try session.create("Product", ["id": .integer(Int64(id)), "name": .text("p\(id)")])
                _ = try session.create(
                    "Order",
                    [
                        "id": .integer(Int64(id)), "owner": .text(["ann", "bob", "it's \"x\" OR 1 == 1"][id % 3]),
                        "total": .integer(Int64(id * 100)), "price": .real(Double(id) + 0.5), "open": .bool(id % 2 == 0),
                        "margin": .integer(7), "code": .text("3b241101-e2bb-4255-8caf-4136c566a96\(id)"),
                        "day": .text("2024-05-0\(id)T00:00:00Z"), "mix": id % 2 == 0 ? .text("ann") : .integer(Int64(id)),
                        "note": .object(["number": .integer(1), "secret": .text("s")]),
                    ])
            }
        }
        return realm
    }
}
