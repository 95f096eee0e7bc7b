// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

/// A server with one realm in memory, `app`, that has something of everything.
struct ChangeFixture {
    let server: ChangeServer

    static let classes = """
        [{"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"name","type":"string","optional":true},
          {"name":"age","type":"int"},{"name":"mate","type":"object","objectType":"Dog"}]},
         {"name":"Person","primaryKey":"_id","properties":[{"name":"_id","type":"string"},{"name":"age","type":"int"},
          {"name":"boss","type":"object","objectType":"Person"},{"name":"pack","type":"object","collection":"list","objectType":"Dog"},
          {"name":"tags","type":"string","collection":"list","optional":true},{"name":"ids","type":"int","collection":"set"},
          {"name":"marks","type":"int","collection":"dictionary"},{"name":"seats","type":"object","collection":"dictionary","objectType":"Dog"},
          {"name":"home","type":"object","objectType":"Place"},{"name":"kids","type":"object","collection":"list","objectType":"Place"}]},
         {"name":"Place","type":"embedded","properties":[{"name":"city","type":"string"},{"name":"rooms","type":"int","collection":"list"}]}]
        """

    init(change: (inout ServerOptions) -> Void = { _ in }) throws {
        server = try ChangeServer(change: change)
        try server.makeRealm("app", classes: ChangeFixture.classes, backlinkNames: #"{"Person":{"staff":"Person.boss"}}"#)
        var ops = (1...5).map { "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\($0),\"name\":\"d\($0)\",\"age\":\($0)}}}" }
        ops.append(
            """
            {"create":{"class":"Person","body":{"_id":"ann","age":3,"pack":[1,2,3],"tags":["a","b"],"ids":[1,2,3],"marks":{"art":1,"math":2},
             "seats":{"a1":1,"a2":2},"home":{"city":"Oslo","rooms":[1]},"kids":[{"city":"Rome"},{"city":"Bonn"}]}}}
            """)
        try server.batch("app", ops)
    }

    @discardableResult
    func write(_ ops: String..., headers: [(String, String)] = []) throws -> String { try server.batch("app", ops, headers) }

    func create(_ id: Int, age: Int = 0) -> String {
        "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\(id),\"name\":\"d\(id)\",\"age\":\(age)}}}"
    }

    func age(_ id: Int, _ age: Int) -> String { "{\"patch\":{\"class\":\"Dog\",\"key\":\"\(id)\",\"body\":{\"age\":\(age)}}}" }
    func delete(_ className: String, _ key: String) -> String { "{\"delete\":{\"class\":\"\(className)\",\"key\":\"\(key)\"}}" }

    func list(_ property: String, _ ops: String, kind: String = "list") -> String {
        "{\"\(kind)\":{\"class\":\"Person\",\"key\":\"ann\",\"property\":\"\(property)\",\"ops\":[\(ops)]}}"
    }

    func patch(_ body: String) -> String { "{\"patch\":{\"class\":\"Person\",\"key\":\"ann\",\"body\":\(body)}}" }

    /// A definition as the parameters of a URL.
    static func query(_ members: KeyValuePairs<String, String>) -> String {
        members.map { "\($0.key)=\(ChangeServer.encode($0.value))" }.joined(separator: "&")
    }
}

extension ParsedJSON {
    /// The text without the versions in it.
    var withoutVersions: String {
        guard case .object(let members) = self else { return serialized }
        return ParsedJSON.object(
            members.filter { !["from", "to", "version", "sub"].contains($0.name) }.map { ($0.name, $0.value) }
        ).serialized
    }
}
