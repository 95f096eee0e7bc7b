// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Answers on several lines, for people.
@Suite struct IndentedTests {
    @Test func `pretty answers are the same JSON, on lines, with a newline at the end`() throws {
        try withWriteServer { server in
            for path in [
                "app/objects/Dog", "app/objects/Dog/1", "app/schema", "app/openapi.json", "app/export?format=json", "app",
                "app/objects/Dgo",
            ] {
                let plain = try server.get(path)
                let pretty = try server.get(path + (path.contains("?") ? "&" : "?") + "pretty")
                #expect(pretty.status == plain.status && pretty.text.hasSuffix("\n") && pretty.text.contains("\n  "), "\(path)")
                if plain.status == 200 { #expect(pretty.json == plain.json, "\(path)") }
                if let etag = plain["ETag"] { #expect(pretty["ETag"] != etag, "\(path)") }
            }
            #expect(try server.get("app/objects/Dog?pretty=false").text == server.get("app/objects/Dog").text)
            #expect(
                try server.get("app/objects/Dog?format=csv&pretty=true").text == server.get("app/objects/Dog?format=csv").text)
            #expect(try server.get("app/objects/Dog?prety").code == "unknown_parameter")
        }
    }

    @Test func `texts and empty values stay as they are`() throws {
        try withWriteServer { server in
            let body = #"{"_id":7,"age":1,"name":"a \" {[,: \\","tags":[],"marks":{}}"#
            #expect(try server.send("POST", "app/objects/Dog", body).status == 201)
            let answer = try server.get("app/objects/Dog/7?pretty=true&fields=name,tags,marks&meta=none")
            #expect(
                answer.text == "{\n  \"name\": \"a \\\" {[,: \\\\\",\n  \"tags\": [],\n  \"marks\": {}\n}\n", "\(answer.text)")
        }
    }
}
