// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Rows D18 and D24 of the checklist: points and distances in queries.
@Suite struct GeographyRowTests {
    /// Places on the equator, one degree (111.3 km) apart, and one in the north.
    private static let classes = [
        ClassInput("Place", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("at", "object", objectType: "Spot")]),
        ClassInput(
            "Spot", type: "embedded",
            [PropertyInput("type", "string"), PropertyInput("coordinates", "double", collection: "list")]),
    ]

    private func withPlaces(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer(Self.classes) { (server: WriteServer) throws in
            for (id, place) in ["[0,0]", "[1,0]", "[2,0]", "[-74,40]"].enumerated() {
                let spot = #"{"type":"Point","coordinates":\#(place)}"#
                try server.done("POST", "app/objects/Place", #"{"id":\#(id),"at":\#(spot)}"#)
            }
            try body(server)
        }
    }

    /// Asks for the places within a shape, which is written in the query or passed as an argument.
    private func find(_ server: WriteServer, _ shape: String, _ args: String = "[]") throws -> HTTPClient.Answer {
        let body = #"{"where":"at geoWithin \#(shape)","args":\#(args),"count":"exact"}"#
        return try server.send("QUERY", "app/objects/Place", body)
    }

    @Test func `D24: circles take a distance with a unit, and equal distances find equal places`() throws {
        try withPlaces { (server: WriteServer) throws in
            let near = ["112km", "112000m", "112000.5m", "69.6mi", "1.0062deg", "0.01757rad", "0.01757"]
            let nearer = ["111km", "110999.5m", "68.9mi", "0.9999deg", "0.0174rad", "0.0174"]
            for (radii, count) in [(near, 2), (nearer, 1)] {
                for radius in radii {
                    #expect(try find(server, "geoCircle([0,0], \(radius))").json["count"]?.int == count, "\(radius)")
                    let argument = #"[{"$geoCircle":{"center":[0,0],"radius":"\#(radius)"}}]"#
                    #expect(try find(server, "$0", argument).json["count"]?.int == count, "\(radius)")
                    #expect(try find(server, "$0", #"["geoCircle([0,0], \#(radius))"]"#).json["count"]?.int == count, "\(radius)")
                }
            }
            #expect(try find(server, "geoCircle([0,0], $0 km)", "[112]").json["count"]?.int == 2)
            let unknown = try find(server, "geoCircle([0,0], 5miles)")
            #expect(unknown.code == "invalid_query" && unknown.json["detail"]?.text?.contains("'mi'") == true, "\(unknown.text)")
            for radius in [#""5miles""#, #""-5km""#, #""km""#, #""""#] {
                let refused = try find(server, "$0", #"[{"$geoCircle":{"center":[0,0],"radius":\#(radius)}}]"#)
                #expect(refused.status == 400 && refused.code == "invalid_query", "\(radius): \(refused.text)")
            }
        }
    }

    @Test func `D18: geoPoint stands for a point, within its limits`() throws {
        try withPlaces { (server: WriteServer) throws in
            for (point, isValid) in [
                ("geoPoint(0, 0)", true), ("geoPoint(0, 0, 0)", true), ("GEOPOINT(0.0, 0.0, 8848.8)", true),
                ("geoPoint(180, 90)", true), ("geoPoint(-180.0, -90.0)", true), ("geoPoint(180.001, 0)", false),
                ("geoPoint(-180.001, 0)", false), ("geoPoint(0, 90.001)", false), ("geoPoint(0, -90.001)", false),
                ("geoPoint(0, 0, -0.1)", false), ("[0, 0, -0.1]", false), ("geoPoint(0)", false), ("geoPoint(0, 0", false),
            ] {
                let answer = try find(server, "geoCircle(\(point), 1km)")
                #expect(answer.status == (isValid ? 200 : 400), "\(point): \(answer.text)")
                #expect(isValid || answer.code == "invalid_query", "\(point)")
            }
            #expect(try find(server, "geoCircle(geoPoint(0, 0, -1.0), 1km)").text.contains("altitude"))
            #expect(try find(server, "geoCircle(geoPoint(181, 0), 1km)").text.contains("out of range"))
            let box = try find(server, "geoBox(geoPoint(-1.0, -1.0), geoPoint($0, 1))", "[1.5]")
            #expect(box.json["count"]?.int == 2, "\(box.text)")
            #expect(try find(server, "geoBox([-74, 40], [-73.0, 41])").text.contains("-74.0"))
        }
    }

    /// The keys of the items of an answer.
    private func ids(_ answer: HTTPClient.Answer) -> [Int] { answer.json["items"]?.elements?.compactMap { $0["id"]?.int } ?? [] }

    @Test func `D24: results are ordered by distance, and show it in metres`() throws {
        try withPlaces { (server: WriteServer) throws in
            try server.done("POST", "app/objects/Place", #"{"id":4}"#)
            try server.done("POST", "app/objects/Place", #"{"id":5,"at":{"type":"Line","coordinates":[0,0]}}"#)
            try server.done("POST", "app/objects/Place", #"{"id":6,"at":{"type":"point","coordinates":[999,0]}}"#)
            let path = { (term: String, rest: String) in
                "app/objects/Place?sort=" + (term.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + rest
            }
            let near = try server.get(path("@distance(at,[0.9,0])", "&fields=id,@distance&meta=none"))
            #expect(ids(near) == [1, 0, 2, 3, 4, 5, 6], "\(near.text)")
            let metres = near.json["items"]?.elements?.compactMap { $0["@distance"]?.double } ?? []
            // One degree of the mean radius of 6,378,100 m.
            let degree = 6_378_100 * Double.pi / 180
            for (shown, expected) in zip(metres, [0.1, 0.9, 1.1]) { #expect(abs(shown - expected * degree) < 0.001) }
            #expect(metres.count == 4)
            // From the pole to 40 degrees north.
            let pole = try server.get(path("-@distance(at, geoPoint(10, 90))", "&fields=@distance,id&limit=4&meta=none"))
            #expect(Set(ids(pole)).isSubset(of: [0, 1, 2, 4, 5, 6]), "\(pole.text)")
            #expect(pole.json["items"]?.elements?.allSatisfy { $0.members?.count == 2 } == true)
            let far = try server.get(path("@distance(at,[10,90])", "&limit=1&fields=@distance,id"))
            #expect(ids(far) == [3] && abs((far.json["items"]?.elements?.first?["@distance"]?.double ?? 0) - 50 * degree) < 0.001)
            // Pages go on after the last distance, and a second term decides among equal ones.
            var found: [Int] = []
            var rest = "&limit=2"
            while true {
                let page = try server.get(path("@distance(at,[0.6,0]),-id", rest))
                found += ids(page)
                guard let next = page.json["next"]?.text else { break }
                rest = "&limit=2&after=" + (next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
            }
            #expect(found == [1, 0, 2, 3, 6, 5, 4])
            let lines = try server.get(path("@distance(at,[0,0])", "&fields=id,@distance&limit=2&format=csv"))
            #expect(lines.text.hasPrefix("id,@distance\r\n0,0"), "\(lines.text)")
        }
    }

    @Test(arguments: [
        ("@distance", "invalid_query"), ("@distance(at)", "invalid_query"), ("@distance(at,0,0)", "invalid_query"),
        ("@distance(at,[0])", "invalid_query"), ("@distance(at,[181,0])", "invalid_query"),
        ("@distance(at,[0,-91])", "invalid_query"),
        ("@distance(at,[nan,0])", "invalid_query"), ("@distance(at,[0x1,0])", "invalid_query"),
        ("@distance(,[0,0])", "invalid_query"),
        ("@distance(id,[0,0])", "invalid_query"), ("@distance(no,[0,0])", "unknown_key_path"),
        ("@distance(at.coordinates,[0,0])", "invalid_query"), ("@distance(at,[0,0,-1])", "invalid_query"),
        ("@distance(at,[0,0,1,2])", "invalid_query"),
    ])
    func `D24: a malformed distance is refused`(_ term: String, _ code: String) throws {
        try withPlaces { (server: WriteServer) throws in
            let text = term.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for fields in ["", "&fields=@distance"] {
                let answer = try server.get("app/objects/Place?sort=\(text)\(fields)")
                #expect(answer.status == 400 && answer.code == code && answer.json["parameter"]?.text == "sort", "\(answer.text)")
            }
            for target in ["fields=@distance", "fields=@distance&sort=id", "fields=at.@distance&sort=@distance(at,[0,0])"] {
                let answer = try server.get("app/objects/Place?\(target.replacing("[", with: "%5B").replacing("]", with: "%5D"))")
                #expect(answer.code == "unknown_key_path" && answer.json["parameter"]?.text == "fields", "\(answer.text)")
            }
            let distinct = try server.get("app/objects/Place?distinct=@distance(at,%5B0,0%5D)")
            #expect(distinct.status == 400, "\(distinct.text)")
            for grouping in ["@distance(at,%5B0,0%5D)", "@distance(at,%5B0,0%5D):floor(10)", "@distance"] {
                let order = "sort=@distance(at,%5B0,0%5D)"
                for query in ["sectionBy=\(grouping)", "sectionBy=\(grouping)&\(order)"] {
                    let sections = try server.get("app/objects/Place?" + query)
                    #expect(sections.status == 400 && sections.json["parameter"]?.text == "sectionBy", "\(sections.text)")
                }
                let groups = try server.get("app/aggregate/Place?groupBy=\(grouping)")
                #expect(groups.status == 400, "\(groups.text)")
            }
        }
    }

    @Test func `D24: a subscription that is ordered by distance tells moves`() throws {
        try withPlaces { (server: WriteServer) throws in
            let target = "app/changes?class=Place&sort=@distance(at,%5B0,0%5D)&limit=2&fields=id,@distance&wait=0"
            let first = try server.get(target)
            #expect(first.status == 200, "\(first.text)")
            let next = try #require(first.json["next"]?.text)
            try server.done("PATCH", "app/objects/Place/2", #"{"at":{"type":"Point","coordinates":[0,0.1]}}"#)
            let changes = try server.get(target.replacing("wait=0", with: "wait=5") + "&since=" + next)
            #expect(changes.text.contains("\"2\"") && changes.text.contains("@distance"), "\(changes.text)")
        }
    }
}
