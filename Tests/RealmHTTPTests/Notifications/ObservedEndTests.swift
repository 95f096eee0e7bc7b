// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

@Suite("What is observed goes away or changes (B26, D10, D36)", .ownThread)
struct ObservedEndTests {
    /// A class that nothing links to, one with collections, and one that is linked to.
    private static let classes = """
        [{"name":"Toy","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"label","type":"string"},{"name":"size","type":"int"}]},
         {"name":"Box","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"note","type":"string"},
          {"name":"tags","type":"string","collection":"list"},{"name":"ids","type":"int","collection":"set"},
          {"name":"marks","type":"int","collection":"dictionary"},{"name":"pens","type":"object","collection":"list","objectType":"Pen"}]},
         {"name":"Pen","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"ink","type":"int"}]}]
        """

    private static func server(change: (inout ServerOptions) -> Void = { _ in }) throws -> ChangeServer {
        let server = try ChangeServer(change: change)
        try server.makeRealm("app", classes: classes)
        var ops = (1...3).map { "{\"create\":{\"class\":\"Toy\",\"body\":{\"_id\":\($0),\"label\":\"t\($0)\",\"size\":\($0)}}}" }
        ops += (1...2).map { "{\"create\":{\"class\":\"Pen\",\"body\":{\"_id\":\($0),\"ink\":\($0)}}}" }
        ops.append(
            #"{"create":{"class":"Box","body":{"_id":1,"note":"n","tags":["a","b"],"ids":[1,2],"marks":{"x":1},"pens":[1,2]}}}"#)
        ops.append(#"{"create":{"class":"Box","body":{"_id":2,"note":"empty"}}}"#)
        try server.batch("app", ops)
        return server
    }

    private static func migrate(_ server: ChangeServer, _ step: String) throws {
        let version = try server.must("GET", "app/schema")["schemaVersion"]?.integer ?? 0
        try server.must(
            "POST", "app/migrations",
            "{\"fromVersion\":\(version),\"toVersion\":\(version + 1),\"steps\":[\(step)],\"allowDataLoss\":true}")
    }

    private static func delete(_ className: String, _ key: Int) -> String {
        "{\"delete\":{\"class\":\"\(className)\",\"key\":\"\(key)\"}}"
    }

    private static let createToy = #"{"create":{"class":"Toy","body":{"_id":9,"label":"t9","size":9}}}"#

    // MARK: - Objects

    @Test(arguments: WatchWay.allCases)
    func `an object that is deleted is told once, with its collections, and of an empty one too`(_ way: WatchWay) throws {
        let server = try ObservedEndTests.server()
        func watch(_ definition: KeyValuePairs<String, String>) throws -> FaultWatcher {
            try FaultWatcher(server, definition, way)
        }
        let object = try watch(["class": "Box", "key": "1"])
        let list = try watch(["class": "Box", "key": "1", "property": "tags"])
        let set = try watch(["class": "Box", "key": "1", "property": "ids"])
        let dictionary = try watch(["class": "Box", "key": "1", "property": "marks"])
        let links = try watch(["class": "Box", "key": "1", "property": "pens", "include": "keys"])
        let view = try watch(["class": "Box", "key": "1", "property": "pens", "where": "ink > 1", "include": "keys"])
        let empty = try watch(["class": "Box", "key": "2", "property": "tags"])
        let all = try watch(["class": "Box", "include": "keys"])
        try server.batch("app", [ObservedEndTests.delete("Box", 1)])
        #expect(try all.next().contains(#""deletions":[{"index":0,"key":"1"}]"#))
        try server.batch("app", [ObservedEndTests.delete("Box", 2)])
        #expect(try all.next().contains(#""deletions":[{"index":0,"key":"2"}]"#))
        #expect(try object.next() == #"changes {"deleted":true}"#)
        let two = #""deletions":[{"index":0},{"index":1}],"insertions":[],"modifications":[],"moves":[],"deleted":true}"#
        #expect(try list.next() == #"changes {"count":0,"# + two && set.next() == #"changes {"count":0,"# + two)
        #expect(
            try dictionary.next()
                == #"changes {"count":0,"deletions":[{"entry":"x"}],"insertions":[],"modifications":[],"deleted":true}"#)
        #expect(try links.next().hasSuffix(#""insertions":[],"modifications":[],"moves":[],"deleted":true}"#))
        // A view, or those who link, is a result: the rows go, and that is all.
        let rest = try view.next()
        #expect(rest.contains(#""deletions":[{"index":0,"key":""#) && !rest.contains(#""deleted""#))
        #expect(
            try empty.next()
                == #"changes {"count":0,"deletions":[],"insertions":[],"modifications":[],"moves":[],"deleted":true}"#)
        // Afterwards it is silent where there is a registration, and gone where there is none; others go on.
        try server.batch("app", [#"{"create":{"class":"Box","body":{"_id":1,"note":"new"}}}"#])
        #expect(try all.next().contains(#""insertions":[{"index":0,"key":"1"}]"#))
        if way == .polls { #expect(try object.take(2) == ["reset retention", "snapshot object"]) }
    }

    @Test(arguments: WatchWay.allCases)
    func `all objects of a class deleted at once are so many deletions, and no clear`(_ way: WatchWay) throws {
        let server = try ObservedEndTests.server()
        let toys = try FaultWatcher(server, ["class": "Toy", "include": "keys"], way)
        let sections = try FaultWatcher(server, ["class": "Toy", "sectionBy": "size", "include": "keys"], way)
        #expect(try server.send("DELETE", "app/objects/Toy?where=TRUEPREDICATE").status == 200)
        #expect(
            try toys.next()
                == #"changes {"count":0,"deletions":[{"index":0,"key":"1"},{"index":1,"key":"2"},{"index":2,"key":"3"}],"insertions":[],"modifications":[],"moves":[]}"#
        )
        #expect(
            try sections.next().contains(
                #""sectionsToDelete":[{"section":0,"key":1},{"section":1,"key":2},{"section":2,"key":3}]"#))
        try server.batch("app", [ObservedEndTests.createToy])
        #expect(try toys.next().contains(#""insertions":[{"index":0,"key":"9"}]"#))
    }

    // MARK: - Schema

    @Test(arguments: WatchWay.allCases)
    func `whoever observes a class that is removed has an error; everybody else begins anew`(_ way: WatchWay) throws {
        let server = try ObservedEndTests.server()
        let wholeClass = try FaultWatcher(server, ["class": "Toy"], way)
        let object = try FaultWatcher(server, ["class": "Toy", "key": "2"], way)
        let other = try FaultWatcher(server, ["class": "Pen", "include": "keys"], way)
        let realm = try FaultWatcher(server, [:], way)
        try ObservedEndTests.migrate(server, #"{"removeClass":{"name":"Toy"}}"#)
        for watcher in [wholeClass, object] {
            #expect(
                try watcher.take(way.isStream ? 3 : 1) == (way.isStream ? ["schema"] : []) + ["problem class_not_found"]
                    + (way.isStream ? ["closed"] : []))
        }
        #expect(try other.take(3) == ["schema", "reset schema", "snapshot 2"])
        #expect(try realm.take(2) == ["schema", "reset schema"])
        try server.batch("app", [ObservedEndTests.delete("Pen", 2)])
        #expect(try other.next().contains(#""deletions":[{"index":1,"key":"2"}]"#))
        #expect(try realm.next() == #"changes {"classes":["Box","Pen"]}"#)
    }

    @Test(
        arguments: WatchWay.allCases,
        ["removed", "renamed"])
    func `a property that is removed or renamed ends what needs it, and nothing else`(_ way: WatchWay, _ change: String) throws {
        let server = try ObservedEndTests.server()
        let needing = try
            ([
                ["class": "Toy", "where": "label == 't1'"], ["class": "Toy", "sort": "label"],
                ["class": "Toy", "keyPaths": "label"],
                ["class": "Toy", "sectionBy": "label"], ["class": "Toy", "fields": "label"],
                ["class": "Toy", "distinct": "label"],
            ] as [KeyValuePairs<String, String>]).map { try FaultWatcher(server, $0, way) }
        let free = try
            ([
                ["class": "Toy", "sort": "size", "include": "keys"], ["class": "Box", "key": "1"],
                ["class": "Box", "key": "1", "property": "tags"],
            ] as [KeyValuePairs<String, String>]).map { try FaultWatcher(server, $0, way) }
        try ObservedEndTests.migrate(
            server,
            change == "removed"
                ? #"{"removeProperty":{"class":"Toy","name":"label"}}"#
                : #"{"renameProperty":{"class":"Toy","name":"label","to":"title"}}"#)
        for watcher in needing {
            #expect(
                try watcher.take(way.isStream ? 3 : 1) == (way.isStream ? ["schema"] : []) + ["problem unknown_key_path"]
                    + (way.isStream ? ["closed"] : []))
        }
        for (watcher, size) in zip(free, ["3", "object", "2"]) {
            #expect(try watcher.take(3) == ["schema", "reset schema", "snapshot \(size)"])
        }
        try server.batch("app", [ObservedEndTests.delete("Box", 1), ObservedEndTests.delete("Toy", 1)])
        for watcher in free { #expect(try watcher.next().hasPrefix("changes ")) }
    }

    @Test(arguments: WatchWay.allCases)
    func `a class or property that is added is told, and everything goes on from where it was`(_ way: WatchWay) throws {
        let server = try ObservedEndTests.server()
        let watchers = try
            ([
                ["class": "Toy", "include": "keys"], ["class": "Toy", "key": "3"],
                ["class": "Toy", "where": "label != ''", "include": "keys"],
            ] as [KeyValuePairs<String, String>]).map { try FaultWatcher(server, $0, way) }
        try ObservedEndTests.migrate(server, #"{"addProperty":{"class":"Toy","property":{"name":"extra","type":"int"}}}"#)
        for watcher in watchers { #expect(try watcher.next() == "schema") }
        try ObservedEndTests.migrate(server, #"{"addClass":{"name":"New","properties":[{"name":"x","type":"int"}]}}"#)
        for watcher in watchers { #expect(try watcher.next() == "schema") }
        try server.batch("app", [ObservedEndTests.delete("Toy", 3)])
        for watcher in watchers { #expect(try watcher.next().hasPrefix("changes ")) }
    }

    // MARK: - Realms

    @Test(arguments: WatchWay.allCases)
    func `a realm that is detached ends all who observe it, for good`(_ way: WatchWay) throws {
        let server = try ObservedEndTests.server()
        let watcher = try FaultWatcher(server, ["class": "Toy"], way)
        let waiting = try RawConnection(
            port: server.port,
            "/v1/realms/app/changes?class=Pen&since=\(try server.poll("app", "class=Pen&since=now")["next"]?.text ?? "")&wait=55",
            accept: "application/json")
        #expect(try eventually { try server.metric("waiting_polls") == 1 })
        try server.must("DELETE", "app")
        #expect(waiting.read(until: "\"changes\":[]") && waiting.text.hasPrefix("HTTP/1.1 200"))
        #expect(
            try watcher.take(way.isStream ? 2 : 1) == (way.isStream ? ["end deleted", "closed"] : ["problem realm_not_found"]))
        #expect(try eventually { try server.metric("streams") == 0 })
        #expect(try server.metric("registrations") == 0 && server.metric("observed_definitions") == 0)
    }

    @Test(arguments: WatchWay.allCases)
    func `a realm that is only read can be observed, and never changes`(_ way: WatchWay) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-readonly-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            let maker = try ChangeServer { $0.dataFolder = folder }
            try maker.must("POST", "", "{\"name\":\"app\",\"schema\":{\"classes\":\(ObservedEndTests.classes)}}")
            try maker.batch("app", [ObservedEndTests.createToy])
            maker.server.stop()
        }
        let server = try ChangeServer { options in
            options.paths = [folder + "/app.realm"]
            options.isReadOnly = true
            options.limits.http.heartbeat = 1
        }
        #expect(try server.poll("app", "class=Toy")["snapshots"]?.elements?.first?["count"]?.integer == 1)
        guard way.isStream else {
            let start = try server.poll("app", "class=Toy&since=now")["next"]?.text ?? ""
            var query = "class=Toy"
            if way.isRegistered {
                query =
                    "subscription="
                    + (try server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Toy"}}}"#)["id"]?.text ?? "")
            }
            #expect(
                try server.poll("app", query + "&since=\(start)&wait=1").serialized
                    == "{\"changes\":[],\"snapshots\":[],\"reset\":null,\"schema\":null,\"next\":\"\(start)\"}")
            return
        }
        let query =
            way.isRegistered
            ? "subscription="
                + (try server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Toy"}}}"#)["id"]?.text ?? "")
            : "class=Toy"
        let stream = try server.stream("app", query + "&hb=event")
        #expect(try stream.next("snapshot").json["count"]?.integer == 1)
        let position = try stream.next("ready").id
        #expect(try stream.next("heartbeat").id == position && stream.next("heartbeat").id == position)
    }
}
