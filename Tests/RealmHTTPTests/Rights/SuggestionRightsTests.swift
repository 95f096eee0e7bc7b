// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Hints name nothing that the sender of a request may not see.
@Suite struct SuggestionRightsTests {
    private static let roles = """
        roles:
          clerk:
            realms:
              notes:
                classes:
                  Note: {allow: [read, create, update], where: "owner == $claims.sub", fields: {hide: [secret]}}
        """
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Note","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"owner","type":"string"},
        {"name":"secret","type":"string"}]},
        {"name":"Ledger","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"note","type":"object","objectType":"Note"}]}]}
        """

    @Test func `hidden properties, classes and realms are never proposed`() throws {
        var configuration = Configuration()
        try configuration.apply(text: Self.roles, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        let server = try KeyServer(change: { $0.roles = roles })
        let admin = try server.add("admin")
        _ = try server.request("DELETE", "/v1/realms/notes", admin)
        let made = try server.request(
            "POST", "/v1/realms", admin, body: #"{"name":"notes","inMemory":"notes","schema":\#(Self.schema)}"#)
        try #require(made.status == 201, "\(made.text)")
        let object = try server.request(
            "POST", "/v1/realms/notes/objects/Note", admin, body: #"{"_id":1,"owner":"ann","secret":"x"}"#)
        try #require(object.status == 201, "\(object.text)")
        let ann = try server.add("ann", roles: ["clerk"])
        let notes = "/v1/realms/notes/"
        let requests: [(String, String, String?, String)] = [
            ("GET", notes + "objects/Note?where=secrt%20==%20'x'", nil, "'secret'"),
            ("GET", notes + "objects/Note?sort=secrt", nil, "'secret'"),
            ("GET", notes + "objects/Note?fields=secrt", nil, "'secret'"),
            ("GET", notes + "objects/Note?distinct=secrt", nil, "'secret'"),
            ("GET", notes + "objects/Note?facets=secrt", nil, "'secret'"),
            ("GET", notes + "aggregate/Note?ops=max:secrt", nil, "'secret'"),
            ("GET", notes + "aggregate/Note?groupBy=secrt", nil, "'secret'"),
            ("GET", notes + "objects/Note/1/secrt", nil, "'secret'"),
            ("PATCH", notes + "objects/Note/1", #"{"secrt":"y"}"#, "'secret'"),
            ("POST", notes + "objects/Note", #"{"_id":2,"owner":"ann","secrt":"y"}"#, "'secret'"),
            ("POST", notes + "batch", #"{"ops":[{"patch":{"class":"Note","key":"1","body":{"secrt":"y"}}}]}"#, "'secret'"),
            ("POST", notes + "batch", #"{"ops":[{"create":{"class":"Ledgr","body":{"_id":1}}}]}"#, "'Ledger'"),
            ("GET", notes + "objects/Ledgr", nil, "'Ledger'"), ("GET", notes + "schema/Ledgr", nil, "'Ledger'"),
            ("GET", notes + "objects/Note?where=@links.Ledgr.note.@count%20%3E%200", nil, "'Ledger'"),
            ("GET", notes + "changes?class=Ledgr", nil, "'Ledger'"), ("GET", "/v1/realms/othr/objects/Note", nil, "'other'"),
            ("GET", "/v1/realms/othr", nil, "'other'"),
        ]
        for (method, path, body, name) in requests {
            let seen = try server.request(method, path, admin, body: body)
            #expect(seen.text.contains("did you mean \(name)?"), "\(method) \(path): \(seen.text)")
            let answer = try server.request(method, path, ann, body: body)
            #expect(answer.status >= 400, "\(method) \(path): \(answer.text)")
            #expect(
                !answer.text.contains("ecret") && !answer.text.contains("Ledger") && !answer.text.contains("'other'"),
                "\(path): \(answer.text)")
        }
        // What ann sees is proposed to her too.
        #expect(try server.request("GET", "/v1/realms/nots", ann).text.contains("did you mean 'notes'?"))
        #expect(try server.request("GET", notes + "objects/Note?sort=ownr", ann).text.contains("did you mean 'owner'?"))
        // Whether there is a realm that she may not know of makes no difference.
        let missing = try server.request("GET", "/v1/realms/othe", ann)
        let hidden = try server.request("GET", "/v1/realms/other", ann)
        #expect(missing.json["detail"] == hidden.json["detail"] && missing.status == hidden.status)
    }
}
