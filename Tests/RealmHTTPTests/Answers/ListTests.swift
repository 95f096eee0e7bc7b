// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Lists, queries and everything else that a result can be asked for, over a file of 39 people and 23 dogs.
@Suite struct ListTests {
    private let server: TestServer
    private let people = "/v1/realms/links/objects/Person"

    init() throws { server = try TestServer(["links"]) }

    private func ids(_ target: String) throws -> [Int] {
        let items = try #require(try server.get(target).json["items"]?.elements, "\(target)")
        return items.compactMap { $0["id"]?.int }
    }

    private func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Follows `next` to the end and returns the ids of all pages.
    private func allPages(_ target: String) throws -> [[Int]] {
        var pages: [[Int]] = []
        var next: String?
        repeat {
            let answer = try server.get(target + (next.map { "&after=" + encoded($0) } ?? ""))
            let items = try #require(answer.json["items"]?.elements, "\(answer.text)")
            pages.append(items.compactMap { $0["id"]?.int })
            next = answer.json["next"]?.text
            #expect((answer["Link"] != nil) == (next != nil))
        } while next != nil && pages.count < 100
        return pages
    }

    @Test func `a list has an envelope, metadata and a tag of the version`() throws {
        let answer = try server.get(people + "?limit=2")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer["Cache-Control"] == "private, no-cache")
        let version = try #require(answer["Realm-Version"])
        #expect(answer["ETag"] == "\"v.\(version)~j1\"")
        #expect(answer.json["version"]?.text == version)
        let items = try #require(answer.json["items"]?.elements)
        #expect(items.count == 2)
        let meta = try #require(items[0]["$meta"])
        #expect(meta["class"]?.text == "Person")
        let key = try #require(meta["key"]?.text)
        let one = try server.get("\(people)/\(key)")
        #expect(one["ETag"] == meta["etag"]?.text)
        #expect(try server.get(people + "?limit=2", headers: [("If-None-Match", answer["ETag"] ?? "")]).status == 304)
        #expect(try server.get("\(people)/\(key)", headers: [("If-None-Match", one["ETag"] ?? "")]).status == 304)
    }

    @Test(arguments: [
        "?limit=7", "?limit=7&sort=-id", "?limit=5&sort=partner.id,-name", "?limit=4&where=id%20%3E%2020&sort=-dog.name",
        "?limit=3&distinct=dog.name&sort=name", "?limit=10&where=ANY%20dogs.name%20BEGINSWITH%20%22D1%22",
    ])
    func `pages follow each other without gap or overlap`(_ parameters: String) throws {
        let whole = try ids(people + parameters.replacing("?limit=", with: "?limit=100&x=").dropX)
        let pages = try allPages(people + parameters)
        #expect(pages.flatMap { $0 } == whole)
        #expect(pages.count > 1)
    }

    @Test func `GET, QUERY and POST answer the same`() throws {
        let body = #"{"where":"id > $0 AND name BEGINSWITH[c] $1","args":[20,"p"],"sort":["-id"],"limit":5,"fields":["id"]}"#
        let json = [("Content-Type", "application/json")]
        let byQuery = try server.request("QUERY", people, headers: json, body: body)
        let byPost = try server.request("POST", "/v1/realms/links/query/Person", headers: json, body: body)
        let byGet = try server.get(
            "\(people)?where=\(encoded("id > $0 AND name BEGINSWITH[c] $1"))&args=\(encoded("[20,\"p\"]"))&sort=-id&limit=5&fields=id"
        )
        #expect(byQuery.status == 200)
        #expect(byQuery.text == byPost.text)
        #expect(byQuery.text == byGet.text)
    }

    @Test func `counts, positions and indexes`() throws {
        let counted = try server.get(people + "?where=id%20%3E%2050&count=exact&limit=0")
        #expect(counted.json["count"]?.int == 23)
        #expect(counted["Realm-Count"] == "23")
        #expect(counted.json["items"]?.elements?.isEmpty == true)
        #expect(try server.request("HEAD", people + "?where=id%20%3E%2050&count=exact")["Realm-Count"] == "23")
        let all = try ids(people + "?sort=-id")
        #expect(try ids(people + "?sort=-id&at=0,5,-1") == [all[0], all[5], all[38]])
        #expect(try server.get(people + "?sort=-id&indexOf=\(all[9])").json["index"]?.int == 9)
        #expect(try server.get(people + "?sort=-id&indexOf=99999").text == "{\"index\":null}")
        #expect(try server.get(people + "?sort=-id&indexOfWhere=id%20%3C%20\(all[4])").json["index"]?.int == 5)
    }

    @Test func `sections keep the order of their first rows`() throws {
        let answer = try server.get(people + "?sectionBy=id:mod(3)&limit=100&fields=id&meta=none")
        let sections = try #require(answer.json["sections"]?.elements)
        let rows = sections.flatMap { ($0["items"]?.elements ?? []).compactMap { $0["id"]?.int } }
        #expect(Set(rows) == Set(try ids(people)))
        for section in sections {
            let key = try #require(section["key"]?.int)
            for item in section["items"]?.elements ?? [] { #expect((item["id"]?.int ?? -1) % 3 == key) }
        }
        let floor = try server.get(people + "?sectionBy=id:floor(50)&section=50")
        #expect(floor.json["sections"]?.elements?.count == 1)
        #expect(try server.get(people + "?sectionBy=id:floor(50)&section=7").code == "section_not_found")
        #expect(try server.get(people + "?sectionBy=id&sort=name").code == "conflicting_parameters")
        var seen: [Int] = []
        var next: String? = ""
        while let cursor = next {
            let page = try server.get(people + "?sectionBy=id:mod(3)&limit=7&after=\(encoded(cursor))".dropEmptyAfter)
            for section in page.json["sections"]?.elements ?? [] {
                seen += (section["items"]?.elements ?? []).compactMap { $0["id"]?.int }
            }
            next = page.json["next"]?.text
        }
        #expect(seen == rows)
    }

    @Test func `streams have a line for every object`() throws {
        let all = try ids(people)
        let lines = try server.get(people, headers: [("Accept", "application/x-ndjson")])
        #expect(lines["Content-Type"] == "application/x-ndjson")
        #expect(lines.isComplete)
        #expect(lines.text.split(separator: "\n").count == all.count)
        let sorted = try server.get(people + "?format=ndjson&sort=-id&fields=id&meta=none").text
        #expect(sorted.split(separator: "\n").first == "{\"id\":\(all.max() ?? 0)}")
        let csv = try server.get(people + "?format=csv&fields=id,name,partner&limit=3&sort=id")
        #expect(csv.text.hasPrefix("id,name,partner\r\n1,P0,\r\n"))
        #expect(csv["Link"] != nil)
        #expect(try server.get(people + "?format=csv").text.split(separator: "\r\n").count == all.count + 1)
    }

    @Test func `aggregates answer by operation`() throws {
        let answer = try server.get("/v1/realms/links/aggregate/Person?ops=count,min:id,max:id,sum:id,avg:id")
        let all = try ids(people)
        #expect(answer.json["count"]?.int == all.count)
        #expect(answer.json["min:id"]?.int == all.min())
        #expect(answer.json["sum:id"]?.int == all.reduce(0, +))
        let empty = try server.get("/v1/realms/links/aggregate/Person?ops=count,min:id,sum:id&where=FALSEPREDICATE")
        #expect(empty.text.hasPrefix("{\"count\":0,\"min:id\":null,\"sum:id\":0,"))
        let post = try server.request(
            "POST", "/v1/realms/links/aggregate/Person", headers: [("Content-Type", "application/json")],
            body: #"{"where":"id > $0","args":[{"$numberLong":"50"}],"ops":["count"],"ints":"string"}"#)
        #expect(post.json["count"]?.text == "23")
    }

    @Test func `collections are paged, filtered and sorted`() throws {
        let dogs = people + "/73/dogs"
        let names = { (target: String) throws -> [String] in
            (try self.server.get(target).json["items"]?.elements ?? []).compactMap { $0["name"]?.text }
        }
        #expect(try names(dogs) == ["D22", "D18", "D20", "D0"])
        #expect(try names(dogs + "?sort=name") == ["D0", "D18", "D20", "D22"])
        #expect(try names(dogs + "?where=name%20BEGINSWITH%20%22D2%22&sort=-name&limit=1") == ["D22"])
        let first = try server.get(dogs + "?limit=3&count=exact")
        #expect(first.json["count"]?.int == 4)
        let next = try #require(first.json["next"]?.text)
        #expect(try names(dogs + "?limit=3&after=" + encoded(next)) == ["D0"])
        #expect(try names(dogs + "?limit=3&sort=name&after=" + encoded(next)) == [])
        #expect(try server.get(dogs + "?sort=name&after=" + encoded(next)).code == "cursor_invalid")
        let entries = try #require(try server.get(people + "/73/byRole").json["items"]?.elements)
        #expect(entries.compactMap { $0["entry"]?.text } == ["boss", "mentor"])
        #expect(try server.get(people + "/73/name").json["value"]?.text == "P24")
    }
}

extension String {
    /// Without the parameter that took the place of the limit.
    fileprivate var dropX: String {
        guard let start = range(of: "&x=")?.lowerBound else { return self }
        let rest = self[start...].dropFirst(3).drop { $0.isNumber }
        return String(self[..<start]) + String(rest)
    }

    fileprivate var dropEmptyAfter: String { hasSuffix("&after=") ? String(dropLast(7)) : self }

    fileprivate func replacing(_ part: String, with other: String) -> String {
        guard let range = range(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }

    private func range(of part: String) -> Range<String.Index>? {
        guard let found = Array(utf8).firstRange(of: Array(part.utf8)) else { return nil }
        return utf8.index(startIndex, offsetBy: found.lowerBound)..<utf8.index(startIndex, offsetBy: found.upperBound)
    }
}
