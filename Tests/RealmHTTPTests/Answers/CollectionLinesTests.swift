// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Collections as NDJSON and CSV, and the keys of objects in CSV.
@Suite struct CollectionLinesTests {
    private static let server = Result { try TestServer(["links", "lists", "embedded", "mixed", "types-list"]) }
    private let server: TestServer

    init() throws { server = try CollectionLinesTests.server.get() }

    private func lines(_ target: String, _ separator: Character) throws -> [String] {
        let answer = try server.get("/v1/realms/" + target)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        return answer.text.split(separator: separator, omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Paths of collections: objects with and without primary key, values, dictionaries, linking objects.
    private func collections() throws -> [String] {
        let parents = try lines("lists/objects/Parent?format=ndjson&fields=id", "\n").count
        #expect(parents > 0)
        let embedded = try firstKeys("embedded/objects/Parent")
        let lists = try firstKeys("lists/objects/Parent")
        let mixed = try firstKeys("mixed/objects/Holder1")
        return [
            "links/objects/Person/73/dogs", "links/objects/Person/73/byRole", "links/objects/Person/73/petSet",
            "links/objects/Dog/@k0/@links/Person/dogs",
        ]
            + lists.flatMap { key in
                ["ints", "optInts", "names", "reals", "links", "set", "dict"].map { "lists/objects/Parent/\(key)/\($0)" }
            }
            + embedded.flatMap { key in ["many", "named"].map { "embedded/objects/Parent/\(key)/\($0)" } }
            + mixed.flatMap { key in ["anyList", "anySet", "anyDict"].map { "mixed/objects/Holder1/\(key)/\($0)" } }
    }

    private func firstKeys(_ path: String, _ limit: Int = 5) throws -> [String] {
        let items = try server.get("/v1/realms/\(path)?limit=\(limit)").json["items"]?.elements ?? []
        return items.compactMap { $0["$meta"]?["key"]?.text }
    }

    @Test func `lines have what the pages have`() throws {
        var rows = 0
        for path in try collections() {
            let answer = try server.get("/v1/realms/\(path)?limit=1000&count=exact")
            let count = try #require(answer.json["count"]?.int, "\(path)")
            let ndjson = try lines(path + "?format=ndjson", "\n")
            #expect(ndjson.count == count, "\(path)")
            let isSame = answer.text.hasPrefix("{\"items\":[" + ndjson.prefix(1000).joined(separator: ",") + "]")
            #expect(isSame, "\(path)")
            #expect(try lines(path + "?format=ndjson&limit=2", "\n") == Array(ndjson.prefix(2)), "\(path)")
            let isCut = try lines(path + "?format=ndjson&offset=1", "\n") == Array(ndjson.dropFirst())
            #expect(isCut, "\(path)")
            let csv = try lines(path + "?format=csv", "\r\n")
            #expect(csv.count == count + 1, "\(path)")
            #expect(
                csv.first?.hasPrefix("entry,") == ["byRole", "dict", "named", "anyDict"].contains { path.hasSuffix("/" + $0) })
            rows += count
        }
        #expect(rows > 100)
    }

    @Test func `lines have the header fields of pages`() throws {
        let path = "/v1/realms/links/objects/Person/73/dogs"
        let page = try server.get(path + "?format=ndjson&limit=1&count=exact")
        #expect(page["Content-Type"] == "application/x-ndjson")
        #expect(page["Link"]?.contains("format=ndjson") == true)
        #expect(page["Realm-Count"] == "4")
        #expect(page["ETag"]?.hasSuffix("~lj1\"") == true)
        let all = try server.get(path, headers: [("Accept", "text/csv")])
        #expect(all["Content-Type"] == "text/csv; charset=utf-8; header=present")
        #expect(all["Link"] == nil)
        #expect(all["ETag"]?.hasSuffix("~cj1\"") == true)
        let tag = try #require(all["ETag"])
        #expect(try server.get(path, headers: [("Accept", "text/csv"), ("If-None-Match", tag)]).status == 304)
        #expect(try server.get("/v1/realms/links/objects/Person/73/name?format=ndjson").code == "not_acceptable")
    }

    @Test func `objects without primary key have theirs in CSV`() throws {
        let dogs = try lines("links/objects/Dog?format=csv&fields=name&limit=2", "\r\n")
        #expect(dogs == ["$key,name", "@k0,D0", "@k1,D1"])
        #expect(try lines("links/objects/Dog?format=csv&fields=name&limit=1&meta=none", "\r\n") == ["name", "D0"])
        #expect(try lines("links/objects/Person?format=csv&fields=name&limit=1&sort=id", "\r\n") == ["name", "P0"])
        #expect(try lines("links/objects/Person/73/dogs?format=csv&fields=name&limit=1", "\r\n") == ["$key,name", "@k22,D22"])
    }

    @Test func `cells of values are text, of Mixed JSON, of null empty`() throws {
        var counts = [0, 0, 0]
        for key in try firstKeys("types-list/objects/ListOptional", 100) {
            for name in ["strings", "datas", "dates", "doubles", "decimals", "objectIds", "uuids", "bools", "mixeds"] {
                let path = "types-list/objects/ListOptional/\(key)/\(name)"
                let items = try lines(path + "?format=ndjson", "\n")
                // Cells with line breaks would have to be put together again; what is left is enough.
                let cells = Array(try lines(path + "?format=csv", "\r\n").dropFirst())
                guard cells.count == items.count else { continue }
                for (item, cell) in zip(items, cells) where !item.contains("\\") {
                    let isText = item.hasPrefix("\"") && name != "mixeds"
                    let text = item == "null" ? "" : isText ? String(item.dropFirst().dropLast()) : item
                    counts[item == "null" ? 0 : name == "mixeds" ? 1 : 2] += 1
                    #expect(cell == (item == "null" ? "" : quoted(text)), "\(path)")
                }
            }
        }
        #expect(counts.allSatisfy { $0 > 5 }, "\(counts)")
    }

    private func quoted(_ text: String) -> String {
        guard text.isEmpty || text.contains(where: { "\",".contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
