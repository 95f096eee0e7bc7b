// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Links to objects that a role does not see: how many of them lists and sets leave out.
@Suite struct HiddenLinkTests {
    private static let roles = """
        roles:
          ann:
            realms:
              app: {classes: {P: [read, subscribe], D: {allow: [read, subscribe], where: "owner == 'ann'"}}, export: true}
          all: {realms: {app: {classes: {"*": [read]}}}}
        """
    private static let classes = """
        {"name":"P","primaryKey":"id","properties":[{"name":"id","type":"int"},
        {"name":"dogs","type":"object","collection":"list","objectType":"D"},
        {"name":"pack","type":"object","collection":"set","objectType":"D"},
        {"name":"named","type":"object","collection":"dictionary","objectType":"D"},
        {"name":"best","type":"object","objectType":"D"},
        {"name":"$any","type":"mixed","collection":"list"},
        {"name":"secrets","type":"object","collection":"list","objectType":"S"},
        {"name":"friends","type":"object","collection":"list","objectType":"P"},
        {"name":"home","type":"object","objectType":"H"}]},
        {"name":"D","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"owner","type":"string"}]},
        {"name":"S","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
        {"name":"H","type":"embedded","properties":[{"name":"dogs","type":"object","collection":"list","objectType":"D"}]}
        """
    private static let path = "/v1/realms/app/objects/P/1"

    private static func link(_ key: Int, _ className: String = "D") -> String {
        #"{"$link":{"class":"\#(className)","key":"\#(key)"}}"#
    }

    private static func links(_ keys: [Int], _ className: String = "D") -> String {
        "[" + keys.map { link($0, className) }.joined(separator: ",") + "]"
    }

    /// A server with dogs of which those with even numbers are not seen by `ann`.
    private func server() throws -> (KeyServer, admin: APIKeyText, ann: APIKeyText) {
        let server = try KeyServer(statingRoles: Self.roles) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        try server.attach("app", Self.classes, admin)
        let dogs = (1...6).map { #"{"id":\#($0),"owner":"\#($0 % 2 == 0 ? "bob" : "ann")"}"# }.joined(separator: ",")
        try server.post("app/objects/D", admin, "[\(dogs)]")
        try server.post("app/objects/S", admin, #"[{"id":1}]"#)
        let body = """
            {"id":1,"dogs":\(Self.links([1, 2, 2, 3, 4])),"pack":\(Self.links([5, 6])),
            "named":{"a":\(Self.link(1)),"b":\(Self.link(2))},"best":\(Self.link(2)),
            "$$any":[1,\(Self.link(2)),\(Self.link(1)),null,\(Self.link(1, "S"))],"secrets":\(Self.links([1], "S")),
            "home":{"dogs":\(Self.links([2, 3]))}}
            """
        try server.post("app/objects/P", admin, body)
        try server.post("app/objects/P", admin, #"{"id":2,"friends":[{"$link":{"class":"P","key":"1"}}]}"#)
        return (server, admin, try server.add("ann", roles: ["ann"]))
    }

    private func hidden(_ answer: HTTPClient.Answer) -> String? { answer.json["$meta"]?["hidden"]?.canonical }

    @Test func `meta counts what lists and sets leave out, and says nothing where that is nothing`() throws {
        let (server, admin, ann) = try server()
        let seen = try server.request("GET", Self.path, ann)
        #expect(seen.status == 200)
        #expect(hidden(seen) == #"{"$$any":2,"dogs":3,"pack":1}"#, "\(seen.text)")
        #expect(seen.json["dogs"]?.elements?.count == 2 && seen.json["pack"]?.elements?.count == 1)
        #expect(seen.json["best"] == .null && seen.json["named"]?["b"] == .null && seen.json["$$any"]?.elements?.count == 3)
        #expect(seen.json["secrets"] == nil && !seen.text.contains("secrets") && !seen.text.contains(#""key":"2""#))
        for key in [admin, try server.add("all", roles: ["all"])] {
            #expect(hidden(try server.request("GET", Self.path, key)) == nil)
        }
        #expect(hidden(try server.request("GET", "/v1/realms/app/objects/P/2", ann)) == nil)
        #expect(hidden(try server.request("GET", "/v1/realms/app/objects/D/1", ann)) == nil)
    }

    @Test func `the count follows the members that are shown, and is wherever meta is`() throws {
        let (server, _, ann) = try server()
        let rows = [("?fields=id", nil), ("?fields=id,dogs", #"{"dogs":3}"#), ("?fields=pack", #"{"pack":1}"#)]
        for (query, expected) in rows {
            #expect(hidden(try server.request("GET", Self.path + query, ann)) == expected, "\(query)")
        }
        #expect(!(try server.request("GET", Self.path + "?meta=none", ann).text.contains("hidden")))
        let list = try server.request("GET", "/v1/realms/app/objects/P?where=id%20==%201", ann)
        #expect(list.json["items"]?[0]?["$meta"]?["hidden"]?["dogs"]?.int == 3, "\(list.text)")
        let friends = try server.request("GET", "/v1/realms/app/objects/P/2?expand=friends", ann)
        #expect(friends.json["friends"]?[0]?["$meta"]?["hidden"]?["pack"]?.int == 1, "\(friends.text)")
        let stream = try EventClient(
            port: server.port, "/v1/realms/app/changes?class=P", headers: [("Authorization", "Bearer " + ann.text)])
        var snapshot: String?
        while snapshot == nil, let event = try stream.next() { if event.name == "snapshot" { snapshot = event.data } }
        #expect(snapshot?.contains(#""hidden":{"dogs":3"#) == true, "\(snapshot ?? "")")
        let poll = try server.request("GET", "/v1/realms/app/changes?class=P", ann)
        #expect(poll.text.contains(#""hidden":{"dogs":3"#), "\(poll.text)")
    }

    @Test func `entity tags are of what is seen, with these numbers`() throws {
        let (server, admin, ann) = try server()
        func tag(_ path: String = Self.path, _ query: String = "") throws -> String {
            let answer = try server.request("GET", path + query, ann)
            let tag = try #require(answer["ETag"])
            #expect(try server.request("GET", path + query, ann, [("If-None-Match", tag)]).status == 304)
            if let meta = answer.json["$meta"]?["etag"]?.text { #expect(meta == tag) }
            return tag
        }
        func patch(_ path: String, _ body: String) throws {
            let answer = try server.request("PATCH", "/v1/realms/app/objects/\(path)", admin, body: body)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let first = try tag()
        #expect(try tag(Self.path, "?fields=dogs") == first, "a tag is of the whole object")
        // What is hidden as before changes nothing: another hidden object in the place of one, one more in an embedded object.
        try patch("D/2", #"{"owner":"bob2"}"#)
        try patch("P/1", #"{"dogs":\#(Self.links([1, 4, 2, 3, 6]))}"#)
        try patch("P/1", #"{"best":\#(Self.link(4))}"#)
        try patch("P/1", #"{"home":{"dogs":\#(Self.links([2, 3, 4, 6]))}}"#)
        try patch("P/1", #"{"secrets":[]}"#)
        #expect(try tag() == first)
        // One more of them is told.
        try patch("P/1", #"{"dogs":\#(Self.links([1, 4, 2, 3, 6, 6]))}"#)
        let second = try tag()
        #expect(second != first)
        #expect(hidden(try server.request("GET", Self.path, ann)) == #"{"$$any":2,"dogs":4,"pack":1}"#)
        // One that becomes visible too.
        try patch("D/6", #"{"owner":"ann"}"#)
        #expect(try tag() != second)
        #expect(hidden(try server.request("GET", Self.path, ann)) == #"{"$$any":2,"dogs":2}"#)
    }

    @Test func `an entry of a dictionary shows no hidden link by its own address either`() throws {
        let (server, admin, ann) = try server()
        for (entry, forAnn, forAdmin) in [("a", "1", "1"), ("b", nil, "2")] {
            for (key, expected) in [(ann, forAnn), (admin, forAdmin)] {
                for query in ["", "?fields=id"] {
                    let answer = try server.request("GET", "\(Self.path)/named.\(entry)\(query)", key)
                    let value = answer.json["value"]
                    let found = value?["$link"]?["key"]?.text ?? value?["id"]?.integer.map { String($0) }
                    #expect(answer.status == 200 && found == expected, "\(entry)\(query): \(answer.text)")
                }
            }
        }
        // What is left out of a list cannot be counted by its indexes.
        #expect(try server.request("GET", Self.path + "/dogs%5B1%5D", ann).status == 404)
        #expect(try server.request("GET", Self.path + "/named.c", ann).status == 404)
    }

    /// Nothing but `$meta` counts them.
    @Test func `hidden links are not followed, counted or found`() throws {
        let (server, _, ann) = try server()
        let list = "/v1/realms/app/objects/P"
        for (query, count) in [
            ("dogs.@count%20==%202", 1), ("dogs.@count%20==%205", 0), ("ANY%20dogs.id%20==%202", 0), ("best%20!=%20null", 0),
            ("ANY%20dogs.owner%20==%20'bob'", 0), ("pack.@count%20==%201", 1),
        ] {
            let answer = try server.request("GET", list + "?where=" + query, ann)
            #expect(answer.json["items"]?.elements?.count == count, "\(query): \(answer.text)")
        }
        let elements = try server.request("GET", Self.path + "/dogs", ann)
        #expect(elements.json["items"]?.elements?.count == 2 && !elements.text.contains(#""2""#), "\(elements.text)")
        #expect(try server.request("GET", Self.path + "?expand=dogs", ann).json["dogs"]?.elements?.count == 2)
    }

    /// A body that writes links of the object at random, many of them to dogs that `ann` does not see.
    private static func change(_ random: inout SeededGenerator) -> String {
        let dog = { (random: inout SeededGenerator) in Int.random(in: 1...6, using: &random) }
        let hidden = { (random: inout SeededGenerator) in Int.random(in: 1...3, using: &random) * 2 }
        let list = { (random: inout SeededGenerator) -> [Int] in
            let visible = Bool.random(using: &random) ? [1, 3] : [1]
            return (visible + (0..<Int.random(in: 1...2, using: &random)).map { _ in hidden(&random) }).shuffled(using: &random)
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return #"{"best":\#(link(hidden(&random)))}"#
        case 1: return #"{"best":\#(Bool.random(using: &random) ? "null" : link(dog(&random)))}"#
        case 2: return #"{"dogs":\#(links(list(&random)))}"#
        case 3: return #"{"pack":\#(links(list(&random)))}"#
        case 4: return #"{"named":{"b":\#(link(hidden(&random)))}}"#
        case 5: return #"{"named":{"a":\#(Bool.random(using: &random) ? "null" : link(dog(&random)))}}"#
        case 6:
            let nested = #"[\#(link(hidden(&random)))],{"x":\#(link(dog(&random)))}"#
            return #"{"$$any":[1,\#(link(hidden(&random))),\#(link(1)),\#(nested)]}"#
        case 7: return #"{"home":{"dogs":\#(links(list(&random)))}}"#
        default: return #"{"secrets":\#(links(Bool.random(using: &random) ? [] : [1], "S"))}"#
        }
    }

    @Test(arguments: Array(1...4) as [UInt64])
    func `a change of hidden links is told exactly if the document has changed`(_ seed: UInt64) throws {
        let (server, admin, ann) = try server()
        var random = SeededGenerator(seed: seed)
        let definitions = [
            #"{"class":"P"}"#, #"{"class":"P","key":"1"}"#, #"{"class":"P","where":"dogs.@count >= 0","sort":["id"]}"#,
            #"{"class":"P","key":"1","property":"dogs"}"#, #"{"class":"P","key":"1","property":"named"}"#,
        ]
        var places: [(url: String, next: String)] = []
        for definition in definitions {
            let made = try server.request(
                "POST", "/v1/realms/app/subscriptions", ann, body: #"{"subscriptions":{"a":\#(definition)}}"#
            ).document(definition)
            let url = "/v1/realms/app/changes?subscription=" + (made["id"]?.text ?? "")
            places.append((url, try server.request("GET", url, ann).json["next"]?.text ?? ""))
        }
        var silent = 0
        for step in 0..<60 {
            let merge = [("Content-Type", "application/merge-patch+json")]
            let before = try server.request("GET", Self.path, ann)
            var body = Self.change(&random)
            if step % 3 == 0 {
                // A dog comes into the view or leaves it.
                let dog = Int.random(in: 1...6, using: &random)
                body = #"{"owner":"\#(Bool.random(using: &random) ? "ann" : "bob")"}"#
                _ = try server.request("PATCH", "/v1/realms/app/objects/D/\(dog)", admin, merge, body: body).document(body)
            } else {
                _ = try server.request("PATCH", Self.path, admin, merge, body: body).document(body)
            }
            let after = try server.request("GET", Self.path, ann)
            let isChanged = before.text != after.text
            silent += isChanged ? 0 : 1
            for index in places.indices {
                let answer = try server.request("GET", places[index].url + "&since=" + places[index].next, ann).json
                places[index].next = answer["next"]?.text ?? ""
                let isTold =
                    answer["changes"]?.elements?.contains {
                        $0["modifications"]?.elements?.isEmpty == false || $0["properties"]?.elements?.isEmpty == false
                            || $0["insertions"]?.elements?.isEmpty == false || $0["deletions"]?.elements?.isEmpty == false
                    } ?? false
                // Another object that it links to may have been written, and observers of one object look at its own properties.
                guard step % 3 != 0 else { continue }
                let isWhole = index == 0 || index == 2
                #expect(
                    isWhole ? isTold == isChanged : !isTold || isChanged,
                    "seed \(seed), step \(step), \(definitions[index]), \(body): \(answer.serialized)\n\(before.text)\n\(after.text)"
                )
            }
        }
        #expect(silent > 5)
    }

    /// A name in a batch, or a whole object in place of a link, made links to objects that a bare key did not reach.
    @Test func `what a request has changed without seeing it is no target of links, by whatever way`() throws {
        let roles = """
            roles:
              deaf: {realms: {app: {classes: {P: {allow: [create, update]}, D: {allow: [create, update]}}}}}
            """
        let server = try KeyServer(statingRoles: roles) { $0.memoryRealms = ["app"] }
        let admin = try server.add("admin")
        try server.attach("app", Self.classes, admin)
        try server.post("app/objects/D", admin, #"[{"id":1,"owner":"bob"},{"id":2,"owner":"bob"}]"#)
        let deaf = try server.add("deaf", roles: ["deaf"])
        func batch(_ id: Int, _ target: String) -> String {
            let first = #"{"create":{"as":"d","class":"D","body":{"id":\#(id),"owner":"me"},"upsert":"modified"}}"#
            let body = #"{"id":\#(id),"best":\#(target),"dogs":[\#(target)],"home":{"dogs":[\#(target)]}}"#
            return #"{"ops":[\#(first),{"create":{"class":"P","body":\#(body)}}]}"#
        }
        let named = #"{"$link":{"ref":"d"}}"#
        // 1 and 2 are there and cannot be seen; 3 to 5 are made by the requests.
        for (id, target, status) in [(1, named, 422), (2, Self.link(2), 422), (3, named, 200), (4, Self.link(4), 200)] {
            let answer = try server.request("POST", "/v1/realms/app/batch", deaf, body: batch(id, target))
            #expect(answer.status == status && (status == 200 || answer.code == "link_target_missing"), "\(answer.text)")
        }
        for (id, status) in [(1, 422), (5, 201)] {
            let body = #"{"id":\#(id),"best":{"id":\#(id),"owner":"me"},"dogs":[{"id":\#(id),"owner":"me"}]}"#
            let answer = try server.request("POST", "/v1/realms/app/objects/P?nested=upsert", deaf, body: body)
            #expect(answer.status == status && (status == 201 || answer.code == "link_target_missing"), "\(answer.text)")
        }
        let owners = try server.request("GET", "/v1/realms/app/objects/D?fields=owner&meta=none&sort=id", admin)
        #expect(owners.text.split(separator: "bob").count == 3, "\(owners.text)")
        #expect(try server.request("GET", "/v1/realms/app/objects/P?limit=0&count=exact", admin).json["count"]?.int == 3)
    }

    /// The tag of an object contained the number of its embedded object in the file, and so counted those of hidden owners.
    @Test func `an entity tag does not tell how many embedded objects there are`() throws {
        let (server, admin, _) = try server()
        var tags: [String] = []
        for count in [0, 3] {
            let realm = "tags\(count)"
            try server.attach(realm, Self.classes, admin)
            try server.post("\(realm)/objects/P", admin, #"[{"id":1}]"#)
            for id in 0..<count { try server.post("\(realm)/objects/P", admin, #"[{"id":\#(id + 2),"home":{"dogs":[]}}]"#) }
            let path = "/v1/realms/\(realm)/objects/P/1"
            #expect(try server.request("PATCH", path, admin, body: #"{"home":{"dogs":[]}}"#).status == 200)
            tags.append(try #require(try server.request("GET", path, admin)["ETag"]))
        }
        #expect(tags[0] == tags[1])
    }

    @Test func `a stream of nothing is refused`() throws {
        let (server, admin, _) = try server()
        let reader = try server.add("all", roles: ["all"])
        for (method, path, body) in [
            ("GET", "/v1/realms/app/changes?after=now&wait=0s", nil), ("GET", "/v1/realms/app/changes/P", nil),
            ("POST", "/v1/realms/app/subscriptions", #"{"subscriptions":{"a":{}}}"#),
        ] as [(String, String, String?)] {
            let refused = try server.request(method, path, reader, body: body)
            #expect(refused.status == 403, "\(path): \(refused.status) \(refused.text)")
            #expect(try server.request(method, path, admin, body: body).status != 403)
        }
    }
}
