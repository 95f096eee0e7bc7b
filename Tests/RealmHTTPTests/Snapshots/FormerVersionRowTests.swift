// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Reads of former versions, their list, and the undoing of commits.
@Suite(.ownThread) struct FormerVersionRowTests {
    private func withKeptVersions(_ count: Int = 40, _ body: (WriteServer) throws -> Void) throws {
        let server = try WriteServer(change: { $0.retention = Retention(versionCount: count, share: 1) })
        try server.fill()
        try body(server)
        try server.finish()
    }

    private func export(_ server: WriteServer, _ query: String = "") throws -> String {
        let answer = try server.get("app/export?format=ndjson\(query)")
        #expect(answer.status == 200, "\(query): \(answer.text)")
        return answer.text.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    private func code(_ server: WriteServer, _ path: String) throws -> String? { try server.get("app/" + path).code }

    @Test func `every read endpoint answers of a former version`() throws {
        try withKeptVersions { server in
            let number = try server.version()
            let paths = [
                "objects/Dog/1?meta=none", "objects/Dog?meta=none", "objects/Dog/1/age", "objects/Dog/1/tags",
                "aggregate/Dog?ops=sum:age",
                "objects/Person/ann/@links/Dog/owner?meta=none", "schema", "objects/Dog/1/tags/@aggregate?ops=count",
                "export?format=ndjson&class=Dog", "stats",
            ]
            func read(_ path: String, _ version: String) throws -> HTTPClient.Answer {
                try server.get("app/\(path)\(path.contains("?") ? "&" : "?")version=\(version)")
            }
            let before = try paths.map { try read($0, String(number)) }
            let token = try #require(before[0]["Realm-Version"])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":40,"tags":[],"owner":null}"#)
            for (path, old) in zip(paths, before) where path != "stats" {
                for version in [String(number), "previous", "-1", token] {
                    let answer = try read(path, version)
                    #expect(answer.text == old.text && answer.status == 200, "\(path) \(version): \(answer.text)")
                    #expect(answer["Realm-Version"] == token, "\(path) \(version)")
                }
            }
            #expect(try read("stats", "previous").status == 200)
            let query = try server.send("POST", "app/query/Dog", #"{"where":"age == 3","version":"\#(number)"}"#)
            #expect(query.json["items"]?.elements?.count == 1, "\(query.text)")
            let backup = try server.get("app/backup?version=previous")
            #expect(backup.status == 200 && backup.body.count > 1000)
            #expect(try server.get("app/objects/Dog/1/age").json["value"]?.int == 40)
            let difference = try server.get("app/diff?from=previous&class=Dog").text
            #expect(difference.contains(#""kind":"changed","class":"Dog","key":"1""#), "\(difference)")
            #expect(try server.get("app/diff?from=\(number)&to=\(number + 1)&class=Dog").text == difference)
        }
    }

    @Test func `a version that is not there is a problem that names those that are`() throws {
        try withKeptVersions(3) { server in
            for age in 0..<6 { try server.done("PATCH", "app/objects/Dog/1", #"{"age":\#(age)}"#) }
            let newest = try server.version()
            for name in ["1", "-90", String(newest + 1), "2001-01-01T00:00:00Z", "other.\(newest)"] {
                let answer = try server.get("app/objects/Dog/1?version=\(name)")
                #expect(answer.status == 404 && answer.code == "version_not_found", "\(name): \(answer.text)")
                #expect(answer.json["oldest"]?.int == newest - 3 && answer.json["newest"]?.int == newest, "\(answer.text)")
            }
            for name in ["", "x", "0", "-0", "18446744073709551616"] {
                #expect(try code(server, "objects/Dog/1?version=\(name)") == "invalid_parameter", "\(name)")
            }
            let lease = try #require(try server.send("POST", "app/snapshots", "{}").json["id"]?.text)
            #expect(try code(server, "objects/Dog/1?version=-1&snapshot=\(lease)") == "conflicting_parameters")
            #expect(try server.send("PATCH", "app/objects/Dog/1?version=-1", "{}").code == "unknown_parameter")
        }
    }

    @Test func `a time names the version that was the newest one then`() throws {
        try withKeptVersions { server in
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":41}"#)
            let times = try server.get("app/versions?limit=2").json["items"]?.elements?.compactMap { $0["time"]?.text } ?? []
            let time = try #require(times.first)
            Thread.sleep(forTimeInterval: 0.01)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":42}"#)
            #expect(try server.get("app/objects/Dog/1/age?version=\(time)").json["value"]?.int == 41, "\(time)")
            #expect(try server.get("app/objects/Dog/1/age?version=2200-01-01T00:00:00Z").json["value"]?.int == 42)
        }
    }

    @Test func `the list of versions says what each commit changed`() throws {
        try withKeptVersions { server in
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":41}"#)
            try server.done("POST", "app/objects/Note", #"{"text":"more"}"#)
            let page = try server.get("app/versions?limit=2").json
            let items = try #require(page["items"]?.elements)
            let newest = try server.version()
            #expect(items.count == 2 && items[0]["version"]?.int == newest)
            #expect(items[0]["changes"]?["classes"]?["Note"]?["added"]?.int == 1, "\(items)")
            #expect(items[1]["changes"]?["classes"]?["Dog"]?["changed"]?.int == 1)
            #expect(items[1]["time"]?.text != nil && items[0]["token"]?.text != nil)
            #expect(page["keptBytes"]?.int ?? 0 > 0 && page["undo"]?["versions"]?.int == 40)
            let next = try #require(page["next"]?.text)
            let rest = try server.get("app/versions?after=\(next)").json["items"]?.elements
            #expect(rest?.first?["version"]?.int == newest - 2)
            #expect(rest?.last?["changes"] == .null)
            #expect(try code(server, "versions?after=x") == "cursor_invalid")
            #expect(try code(server, "versions?limit=0") == "invalid_parameter")
        }
    }

    @Test func `versions survive a restart, and each equals the export of its time`() throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed)
        let server = try WriteServer(change: { $0.retention = Retention(versionCount: 500, share: 1) })
        try server.fill()
        var exports: [Int: String] = [:]
        for _ in 0..<(TestRun.isLong ? 400 : 40) {
            try change(server, using: &random)
            exports[Int(try server.version())] = try export(server)
        }
        let versions = exports.keys.sorted()
        for _ in 0..<(TestRun.isLong ? 10_000 : 100) {
            let version = try #require(versions.randomElement(using: &random))
            #expect(try export(server, "&version=\(version)") == exports[version], "seed \(seed), version \(version)")
        }
        try server.done("DELETE", "app")
        #expect(
            try server.attach(#"{"name":"app","path":"\#(server.folder)/app.realm","undo":{"versions":500,"atMost":"100%"}}"#)
                .status == 201)
        for version in versions {
            #expect(try export(server, "&version=\(version)") == exports[version], "seed \(seed), version \(version), restarted")
        }
        try server.finish()
    }

    /// Sends one random write.
    private func change(_ server: WriteServer, using random: inout SeededGenerator) throws {
        let dog = Int.random(in: 1...6, using: &random)
        let age = Int.random(in: 0...99, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: _ = try server.send("DELETE", "app/objects/Dog/\(dog)")
        case 1:
            _ = try server.send(
                "PUT", "app/objects/Dog/\(dog)",
                #"{"_id":\#(dog),"age":\#(age),"tags":["t\#(age)","u"],"chips":[{"code":"c\#(age)"},{"code":"d"}],"ids":[1,\#(age)]}"#
            )
        case 2:
            _ = try server.send(
                "PATCH", "app/objects/Dog/\(dog)",
                #"{"age":\#(age),"any":[1,{"k":[\#(age),{"deep":"x"}]},"s"],"marks":{"m":\#(age)},"chip":{"code":"e","size":\#(age)}}"#
            )
        case 3: _ = try server.send("PATCH", "app/objects/Dog/\(dog)", #"{"owner":"ann"}"#)
        case 4: _ = try server.send("PATCH", "app/objects/Person/ann", #"{"dogs":[\#(dog)]}"#)
        case 5: _ = try server.send("POST", "app/objects/Note", #"{"text":"note \#(age)"}"#)
        case 6: _ = try server.send("DELETE", "app/objects/Note?where=text%20ENDSWITH%20%22\(age % 10)%22")
        case 7:
            _ = try server.send(
                "PUT", "app/objects/Value/\(dog)",
                #"{"_id":\#(dog),"int":\#(age),"double":1.5,"date":"2020-01-01T00:00:\#(10 + age % 50)Z","mixeds":[1,"a",[2,{"z":\#(age)}]],"mixedSet":[1,"b"],"map":{"q":{"r":[\#(age)]}},"data":"AAEC","uuid":"00000000-0000-4000-8000-0000000000\#(10 + age % 90)"}"#
            )
        default: _ = try server.send("PATCH", "app/objects/Person/ann", #"{"pets":{"p\#(age % 3)":\#(dog)},"friends":["ann"]}"#)
        }
    }

    // MARK: - Undo

    private func undo(_ server: WriteServer, _ number: Int, isDryRun: Bool = false) throws -> HTTPClient.Answer {
        try server.send("POST", "app/undo", #"{"version":\#(number)\#(isDryRun ? #","dryRun":true"# : "")}"#)
    }

    @Test func `undoing the newest commit gives the realm before, again and again`() throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed)
        try withKeptVersions { server in
            for round in 0..<(TestRun.isLong ? 300 : 40) {
                let number = try server.version()
                let notes = try server.get("app/objects/Note?fields=text&meta=none&sort=text").json["items"]
                try change(server, using: &random)
                guard try server.version() > number else { continue }
                let dry = try undo(server, number + 1, isDryRun: true)
                #expect(dry.status == 200 && dry.json["committed"] == .bool(false), "\(dry.text)")
                #expect(try server.version() == number + 1)
                let real = try undo(server, number + 1)
                #expect(real.status == 200, "seed \(seed), round \(round): \(real.text)")
                for name in ["undone", "restored", "removed", "reverted"] {
                    #expect(dry.json["body"]?[name]?.int == real.json[name]?.int, "\(name)")
                }
                let differences = try lines(server, "from=\(number)&class=Dog,Person,Value")
                #expect(differences.isEmpty, "seed \(seed), round \(round): \(differences)")
                #expect(try server.get("app/objects/Note?fields=text&meta=none&sort=text").json["items"] == notes)
                if Bool.random(using: &random) { try change(server, using: &random) }
            }
        }
    }

    @Test func `undoing an earlier commit changes what it changed and nothing else, or is refused`() throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed)
        var (done, refused) = (0, 0)
        try withKeptVersions { server in
            for round in 0..<(TestRun.isLong ? 400 : 60) {
                try change(server, using: &random)
                let newest = try server.version()
                let number = newest - Int.random(in: 1...4, using: &random)
                guard number > 4 else { continue }
                let before = try export(server)
                let answer = try undo(server, number)
                if answer.status == 409 {
                    refused += 1
                    #expect(answer.code == "conflict" && answer.json["objects"]?.elements?.isEmpty == false, "\(answer.text)")
                    let (now, version) = (try export(server), try server.version())
                    #expect(now == before && version == newest)
                    continue
                }
                #expect(answer.status == 200, "seed \(seed), round \(round): \(answer.text)")
                done += 1
                guard try server.version() > newest else { continue }
                let classes = "&class=Dog,Person,Value"
                let inverse = try lines(server, "from=\(number)&to=\(number - 1)\(classes)")
                #expect(
                    try lines(server, "from=\(newest)&to=\(newest + 1)\(classes)") == inverse, "seed \(seed), round \(round)")
            }
        }
        #expect(done > 0 && refused > 0)
    }

    private func lines(_ server: WriteServer, _ query: String) throws -> [String] {
        try server.get("app/diff?\(query)").text.split(separator: "\n").filter { $0.hasPrefix(#"{"kind"#) }.map(String.init)
            .sorted()
    }

    @Test func `a commit that cannot be undone says why`() throws {
        try withKeptVersions { server in
            let number = try server.version()
            for body in ["{}", #"{"version":"x"}"#, #"{"version":1.5}"#, #"{"version":2,"dryRun":1}"#, #"{"version":2,"x":1}"#] {
                #expect(try server.send("POST", "app/undo", body).code == "invalid_body", "\(body)")
            }
            #expect(try undo(server, number + 1).code == "version_not_found")
            #expect(try undo(server, 1).code == "version_not_found")
            // A later commit links to an object that the undone one made.
            try server.done("PUT", "app/objects/Dog/9", #"{"_id":9,"age":1}"#)
            try server.done("PATCH", "app/objects/Person/ann", #"{"pets":{"best":9}}"#)
            let linked = try undo(server, number + 1)
            #expect(linked.code == "conflict", "\(linked.text)")
            #expect(linked.json["objects"]?.elements?.first?["class"]?.text == "Person", "\(linked.text)")
            // A later commit has deleted the target of a link that would come back.
            try server.done("PATCH", "app/objects/Dog/2", #"{"owner":"ann"}"#)
            try server.done("PATCH", "app/objects/Dog/2", #"{"owner":null}"#)
            try server.done("DELETE", "app/objects/Person/ann")
            let gone = try undo(server, number + 4)
            #expect(gone.code == "conflict" && gone.text.contains("Person"), "\(gone.text)")
        }
    }
}
