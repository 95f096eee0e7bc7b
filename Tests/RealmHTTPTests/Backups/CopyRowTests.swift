// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Rows A18 and A19 of the checklist: what is in a copy.
@Suite struct CopyRowTests {
    private static let key = String(repeating: "7c", count: 64)

    /// All objects of a realm, without the line before them that names the version.
    private func objects(_ server: WriteServer, _ realm: String) throws -> [Substring] {
        let lines = try server.get(realm + "/export").text.split(separator: "\n")
        #expect(lines.count > 300 && lines[0].contains("$begin"))
        return Array(lines.dropFirst())
    }

    @Test(arguments: ["", key])
    func `A18, A19: a copy has all that the realm has, takes no more room, and opens under its own key only`(_ key: String) throws
    {
        try withWriteServer { (server: WriteServer) throws in
            // Something of every kind, and room that nothing uses any more.
            try server.done(
                "POST", "app/objects/Value?upsert=all", #"{"_id":1,"mixed":[1,{"a":[null,"x"]}],"double":0.1,"map":{"k":2}}"#)
            let notes = (0..<600).map { #"{"text":"\#($0) \#(String(repeating: "n", count: 500))"}"# }.joined(separator: ",")
            try server.done("POST", "app/objects/Note", "[\(notes)]", [("Prefer", "return=minimal")])
            try server.done("DELETE", "app/objects/Note?where=" + ChangeServer.encode("text BEGINSWITH '1'"))
            let schema = try server.get("app/schema").json["classes"]
            let contents = try objects(server, "app")
            let copy =
                key.isEmpty
                ? try server.done("GET", "app/backup") : try server.done("POST", "app/backup", #"{"encryptionKey":"\#(key)"}"#)
            #expect(copy.body.count <= (try server.bytes().count))
            let path = server.folder + "/copy"
            try Data(copy.body).write(to: URL(fileURLWithPath: path))
            if key.isEmpty {
                // Another reader of such files finds nothing wrong with it.
                if let inspector = FileInspector.shared { #expect(inspector.errors(path) == nil) }
            } else {
                let body = #""name":"copy","path":"\#(path)""#
                #expect(try server.attach("{\(body)}").code == "encryption_key_required")
                let wrong = String(repeating: "7d", count: 64)
                #expect(try server.attach(#"{\#(body),"encryptionKey":"\#(wrong)"}"#).code == "encryption_key_wrong")
            }
            let member = key.isEmpty ? "" : #","encryptionKey":"\#(key)""#
            let attached = try server.attach(#"{"name":"copy","path":"\#(path)"\#(member)}"#)
            #expect(attached.status == 201 && attached.json["encrypted"]?.bool == !key.isEmpty, "\(attached.text)")
            #expect(try server.get("copy/schema").json["classes"] == schema)
            #expect(try objects(server, "copy") == contents)
            // It is a realm of its own.
            try server.done("DELETE", "copy/objects/Dog/1")
            #expect(try objects(server, "app") == contents)
            try server.done("DELETE", "copy")
        }
    }
}
