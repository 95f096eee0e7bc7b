// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Lists, queries and everything else that a result can be asked for, over a file of 39 people and 23 dogs.
@Suite struct ListTests {
    private let server: TestServer
    private let people = "/v1/realms/links/objects/Person"

    init() throws { server = try TestServer(["links"]) }

    private func ids(_ target: String) throws -> [Int] {
        let items = try #require(try server.get(target).json["items"] as? [[String: Any]], "\(target)")
        return items.compactMap { $0["id"] as? Int }
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
            let items = try #require(answer.json["items"] as? [[String: Any]], "\(answer.text)")
            pages.append(items.compactMap { $0["id"] as? Int })
            next = answer.json["next"] as? String
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
        #expect(answer.json["version"] as? String == version)
        let items = try #require(answer.json["items"] as? [[String: Any]])
        #expect(items.count == 2)
        let meta = try #require(items[0]["$meta"] as? [String: Any])
        #expect(meta["class"] as? String == "Person")
        let key = try #require(meta["key"] as? String)
        let one = try server.get("\(people)/\(key)")
        #expect(one["ETag"] == meta["etag"] as? String)
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
        #expect(counted.json["count"] as? Int == 23)
        #expect(counted["Realm-Count"] == "23")
        #expect((counted.json["items"] as? [Any])?.isEmpty == true)
        #expect(try server.request("HEAD", people + "?where=id%20%3E%2050&count=exact")["Realm-Count"] == "23")
        let all = try ids(people + "?sort=-id")
        #expect(try ids(people + "?sort=-id&at=0,5,-1") == [all[0], all[5], all[38]])
        #expect(try server.get(people + "?sort=-id&indexOf=\(all[9])").json["index"] as? Int == 9)
        #expect(try server.get(people + "?sort=-id&indexOf=99999").text == "{\"index\":null}")
        #expect(try server.get(people + "?sort=-id&indexOfWhere=id%20%3C%20\(all[4])").json["index"] as? Int == 5)
    }

    @Test func `sections keep the order of their first rows`() throws {
        let answer = try server.get(people + "?sectionBy=id:mod(3)&limit=100&fields=id&meta=none")
        let sections = try #require(answer.json["sections"] as? [[String: Any]])
        let rows = sections.flatMap { ($0["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int } }
        #expect(Set(rows) == Set(try ids(people)))
        for section in sections {
            let key = try #require(section["key"] as? Int)
            for item in section["items"] as? [[String: Any]] ?? [] { #expect((item["id"] as? Int ?? -1) % 3 == key) }
        }
        let floor = try server.get(people + "?sectionBy=id:floor(50)&section=50")
        #expect((floor.json["sections"] as? [[String: Any]])?.count == 1)
        #expect(try server.get(people + "?sectionBy=id:floor(50)&section=7").code == "section_not_found")
        #expect(try server.get(people + "?sectionBy=id&sort=name").code == "conflicting_parameters")
        var seen: [Int] = []
        var next: String? = ""
        while let cursor = next {
            let page = try server.get(people + "?sectionBy=id:mod(3)&limit=7&after=\(encoded(cursor))".dropEmptyAfter)
            for section in page.json["sections"] as? [[String: Any]] ?? [] {
                seen += (section["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int }
            }
            next = page.json["next"] as? String
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
        #expect(answer.json["count"] as? Int == all.count)
        #expect(answer.json["min:id"] as? Int == all.min())
        #expect(answer.json["sum:id"] as? Int == all.reduce(0, +))
        let empty = try server.get("/v1/realms/links/aggregate/Person?ops=count,min:id,sum:id&where=FALSEPREDICATE")
        #expect(empty.text.hasPrefix("{\"count\":0,\"min:id\":null,\"sum:id\":0,"))
        let post = try server.request(
            "POST", "/v1/realms/links/aggregate/Person", headers: [("Content-Type", "application/json")],
            body: #"{"where":"id > $0","args":[{"$numberLong":"50"}],"ops":["count"],"ints":"string"}"#)
        #expect(post.json["count"] as? String == "23")
    }

    @Test func `collections are paged, filtered and sorted`() throws {
        let dogs = people + "/73/dogs"
        let names = { (target: String) throws -> [String] in
            (try self.server.get(target).json["items"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        }
        #expect(try names(dogs) == ["D22", "D18", "D20", "D0"])
        #expect(try names(dogs + "?sort=name") == ["D0", "D18", "D20", "D22"])
        #expect(try names(dogs + "?where=name%20BEGINSWITH%20%22D2%22&sort=-name&limit=1") == ["D22"])
        let first = try server.get(dogs + "?limit=3&count=exact")
        #expect(first.json["count"] as? Int == 4)
        let next = try #require(first.json["next"] as? String)
        #expect(try names(dogs + "?limit=3&after=" + encoded(next)) == ["D0"])
        #expect(try names(dogs + "?limit=3&sort=name&after=" + encoded(next)) == [])
        #expect(try server.get(dogs + "?sort=name&after=" + encoded(next)).code == "cursor_invalid")
        let entries = try #require(try server.get(people + "/73/byRole").json["items"] as? [[String: Any]])
        #expect(entries.compactMap { $0["entry"] as? String } == ["boss", "mentor"])
        #expect(try server.get(people + "/73/name").json["value"] as? String == "P24")
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
