// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows B26, B27 and D48 of the checklist: key paths, and objects that link to one.
@Suite struct ObservedPathRowTests {
    @Test(.enabled(if: NotificationVectors.file("key-paths") != nil))
    func `B26, B27: key paths are taken and refused as the reference engine does`() throws {
        let server = try ChangeServer()
        let vectors = try NotificationVectors.vectors("key-paths")
        #expect(vectors.count >= 14)
        for (index, vector) in vectors.enumerated() {
            let id = vector["id"]?.text ?? ""
            let realm = try ScenarioRealm(server, "k\(index)", schema: vector["schema"]?.elements ?? [])
            let paths = vector["keyPaths"]?.serialized ?? "[]"
            let body = "{\"subscriptions\":{\"a\":{\"class\":\(vector["class"]?.serialized ?? "null"),\"keyPaths\":\(paths)}}}"
            let answer = try server.send("POST", "\(realm.name)/subscriptions", body)
            // The interface takes the form that queries have for linking objects, and means their name.
            if vector["expect"]?["error"] == nil || id == "kp-links-syntax" {
                #expect(answer.status == 201, "\(id): \(answer.text)")
            } else {
                #expect(answer.status == 400 && answer.code == "unknown_key_path", "\(id): \(answer.text)")
                #expect(answer.json["pointer"]?.text == "/subscriptions/a/keyPaths", "\(id)")
            }
            try realm.delete()
        }
    }

    @Test(arguments: Transport.allCases)
    func `B26, B27: no key paths are all of them, and both names of linking objects mean the same`(_ transport: Transport) throws
    {
        let fixture = try ChangeFixture()
        let port = fixture.server.port
        func follow(_ more: String) throws -> Follower {
            try Follower(port, "{\"class\":\"Person\",\"include\":\"keys\"\(more)}", transport)
        }
        let all = try ["", #","keyPaths":[]"#].map(follow)
        let linked = try [#","keyPaths":["staff.age"]"#, #","keyPaths":["@links.Person.boss.age"]"#].map(follow)
        let shallow = try follow(#","shallow":true"#)
        func modified(_ followers: [Follower], _ version: String) throws -> [[String?]] {
            try followers.map {
                try $0.documents(upTo: version).flatMap { $0["modifications"]?.elements ?? [] }.map { $0["key"]?.text }
            }
        }
        var version = try fixture.write(fixture.patch(#"{"age":9}"#))
        #expect(try modified(all, version) == [["ann"], ["ann"]] && modified(linked + [shallow], version) == [[], [], []])
        version = try fixture.write(#"{"create":{"class":"Person","body":{"_id":"bob","age":1,"boss":"ann"}}}"#)
        #expect(try modified(all, version) == [[], []] && modified(linked + [shallow], version) == [["ann"], ["ann"], []])
        version = try fixture.write(#"{"patch":{"class":"Person","key":"bob","body":{"age":2}}}"#)
        #expect(
            try modified(all, version) == [["bob"], ["bob"]] && modified(linked + [shallow], version) == [["ann"], ["ann"], []])
    }

    @Test(arguments: Transport.allCases)
    func `C21, C22: with deep=embedded an object changes when what is embedded in it does`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        func follow(_ more: String) throws -> Follower {
            try Follower(fixture.server.port, "{\"class\":\"Person\"\(more)}", transport)
        }
        let object = try follow(#","key":"ann","deep":"embedded""#)
        let plain = try follow(#","key":"ann","deep":"links""#)
        let rows = try follow(#","deep":"embedded""#)
        let linked = try follow("")
        func properties(_ follower: Follower, _ version: String) throws -> [String] {
            try follower.documents(upTo: version).flatMap { $0["properties"]?.elements ?? [] }.compactMap { $0["name"]?.text }
        }
        func modified(_ follower: Follower, _ version: String) throws -> Int {
            try follower.documents(upTo: version).flatMap { $0["modifications"]?.elements ?? [] }.count
        }
        var version = try fixture.write(fixture.patch(#"{"home":{"city":"Bergen"}}"#))
        #expect(try properties(object, version) == ["home"] && properties(plain, version).isEmpty)
        #expect(try modified(rows, version) == 1)
        #expect(try modified(linked, version) == 1)
        // An object in a list in it counts too; an object that it links to does not.
        version = try fixture.write(fixture.list("kids[0].rooms", #"{"add":7}"#))
        #expect(try properties(object, version) == ["kids"] && modified(rows, version) == 1)
        #expect(try modified(linked, version) == 1)
        version = try fixture.write(fixture.age(1, 40))
        #expect(try properties(object, version).isEmpty && modified(rows, version) == 0)
        #expect(try modified(linked, version) == 1)
        version = try fixture.write(fixture.patch(#"{"age":8}"#))
        #expect(try properties(object, version) == ["age"] && properties(plain, version) == ["age"])
        for (more, parameter) in [
            (#","shallow":true"#, "deep"), (#","keyPaths":["age"]"#, "deep"), (#","key":"ann","property":"tags""#, "deep"),
        ] {
            let body = #"{"subscriptions":{"a":{"class":"Person","deep":"embedded"\#(more)}}}"#
            let answer = try fixture.server.send("POST", "app/subscriptions", body)
            #expect(answer.status == 400 && answer.code == "conflicting_parameters", "\(answer.text)")
            #expect(answer.json["pointer"]?.text == "/subscriptions/a/\(parameter)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `C21, C22: key paths choose what is told of an embedded object, and none of them choose all`(_ transport: Transport)
        throws
    {
        let fixture = try ChangeFixture()
        func follow(_ more: String) throws -> Follower {
            try Follower(fixture.server.port, "{\"class\":\"Person\",\"key\":\"ann\",\"property\":\(more)}", transport)
        }
        let city = try follow(#""home","keyPaths":["city"]"#)
        let rooms = try follow(#""home","keyPaths":["rooms"]"#)
        let all = try [#""home""#, #""home","keyPaths":[]"#].map(follow)
        let kid = try follow(#""kids[0]","keyPaths":["city"]"#)
        func told(_ follower: Follower, _ version: String) throws -> [String] {
            try follower.documents(upTo: version).flatMap { $0["properties"]?.elements ?? [] }.compactMap { $0["name"]?.text }
        }
        var version = try fixture.write(fixture.patch(#"{"home":{"city":"Bergen"}}"#))
        #expect(try told(city, version) == ["city"] && told(rooms, version) == [] && told(kid, version) == [])
        for one in all { #expect(try told(one, version) == ["city"]) }
        version = try fixture.write(fixture.list("home.rooms", #"{"add":7}"#))
        #expect(try told(city, version) == [] && told(rooms, version) == ["rooms"])
        for one in all { #expect(try told(one, version) == ["rooms"]) }
        version = try fixture.write(
            #"{"patch":{"class":"Person","key":"ann","body":[{"op":"replace","path":"/kids/0/city","value":"Graz"}]}}"#)
        #expect(try told(kid, version) == ["city"] && told(city, version) == [])
        // Its end is told whatever is chosen.
        version = try fixture.write(fixture.patch(#"{"home":null}"#))
        for one in [city, rooms] { #expect(try one.documents(upTo: version).map { $0["deleted"]?.bool } == [true]) }
        let wrong = #"{"subscriptions":{"a":{"class":"Person","key":"ann","property":"kids[0]","keyPaths":["age"]}}}"#
        #expect(try fixture.server.send("POST", "app/subscriptions", wrong).code == "unknown_key_path")
    }

    @Test(arguments: Transport.allCases)
    func `D48: each link is one linking object, in reads, queries and subscriptions`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let follower = try Follower(
            server.port, #"{"class":"Dog","key":"1","property":"@links.Person.pack","include":"keys"}"#, transport)
        let view = try Follower(
            server.port,
            #"{"class":"Dog","key":"1","property":"@links.Person.pack","where":"age > 5","sort":["-_id"],"include":"keys"}"#,
            transport)
        let named = try Follower(
            server.port, #"{"class":"Person","key":"ann","property":"staff","fields":["_id"],"meta":"none"}"#, transport)
        #expect(follower.snapshot?["items"]?.serialized == #"[{"key":"ann"}]"# && view.snapshot?["count"]?.integer == 0)
        // The same dog twice in a list is linked to twice.
        let bob = #"{"create":{"class":"Person","body":{"_id":"bob","age":9,"boss":"ann","pack":[1,2,1]}}}"#
        let version = try fixture.write(bob)
        let told = try follower.documents(upTo: version)
        let inserted: [String] = (told.first?["insertions"]?.elements ?? []).compactMap { $0["key"]?.text }
        #expect(inserted == ["bob", "bob"] && told.first?["count"]?.integer == 3)
        #expect(try view.documents(upTo: version).first?["count"]?.integer == 2)
        #expect(
            try named.sets(upTo: version) == [
                #"{"count":1,"deletions":[],"insertions":[{"index":0,"key":"bob","object":{"_id":"bob"}}],"modifications":[],"moves":[]}"#
            ])
        let page = try server.must("GET", "app/objects/Dog/1/@links/Person/pack?fields=_id&meta=none")
        #expect(page["items"]?.elements?.compactMap { $0["_id"]?.text }.sorted() == ["ann", "bob", "bob"])
        let query = ChangeServer.encode("@links.Person.pack.@count == 3")
        #expect(
            try server.must("GET", "app/objects/Dog?where=\(query)&fields=_id&meta=none")["items"]?.serialized == #"[{"_id":1}]"#)
        let expanded = try server.must("GET", "app/objects/Dog/1?expand=@links.Person.pack&fields=@links.Person.pack&meta=none")
        #expect(expanded["@links.Person.pack"]?.elements?.count == 3, "\(expanded.serialized)")
        let last = try fixture.write(#"{"delete":{"class":"Person","key":"bob"}}"#)
        #expect(try follower.documents(upTo: last).first?["count"]?.integer == 1)
        #expect(try view.documents(upTo: last).first?["deletions"]?.elements?.count == 2)
        #expect(try named.documents(upTo: last).first?["deletions"]?.serialized == #"[{"index":0,"key":"bob"}]"#)
    }
}
