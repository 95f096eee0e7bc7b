// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Rows D19 to D23 and D25 of the checklist: shapes, and the places that lie within them.
@Suite struct GeographyShapeRowTests {
    private static func place(_ name: String, _ more: [PropertyInput] = []) -> ClassInput {
        ClassInput(
            name, type: "embedded",
            [PropertyInput("type", "string"), PropertyInput("coordinates", "double", collection: "list")] + more)
    }

    /// Two classes that have the shape of a place, and others that lack something of it.
    private static let classes = [
        ClassInput(
            "Place", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("at", "object", objectType: "Spot"),
                PropertyInput("old", "object", objectType: "Marker"), PropertyInput("bare", "object", objectType: "Bare"),
                PropertyInput("whole", "object", objectType: "Whole"), PropertyInput("top", "object", objectType: "Top"),
                PropertyInput("number", "double", optional: true),
            ]),
        place("Spot"), place("Marker", [PropertyInput("label", "string", optional: true)]),
        ClassInput("Bare", type: "embedded", [PropertyInput("type", "string")]),
        ClassInput(
            "Whole", type: "embedded",
            [PropertyInput("type", "string"), PropertyInput("coordinates", "int", collection: "list")]),
        ClassInput("Top", [PropertyInput("type", "string"), PropertyInput("coordinates", "double", collection: "list")]),
    ]

    /// Runs a test with a place for each pair of coordinates, numbered from 0.
    private func with(_ coordinates: [String], _ body: (WriteServer) throws -> Void) throws {
        try withWriteServer(GeographyShapeRowTests.classes) { (server: WriteServer) throws in
            let places = coordinates.enumerated().map { #"{"id":\#($0),"at":{"type":"Point","coordinates":[\#($1)]}}"# }
            try server.done("POST", "app/objects/Place", "[\(places.joined(separator: ","))]")
            try body(server)
        }
    }

    private func find(_ server: WriteServer, _ shape: String, _ path: String = "at", args: String = "[]") throws
        -> HTTPClient.Answer
    {
        try server.send(
            "QUERY", "app/objects/Place", #"{"where":"\#(path) geoWithin \#(shape)","args":\#(args),"sort":["id"]}"#)
    }

    /// The numbers of the places in a shape; the status where there is none.
    private func ids(_ server: WriteServer, _ shape: String, _ path: String = "at", args: String = "[]") throws -> [Int] {
        let answer = try find(server, shape, path, args: args)
        return answer.json["items"]?.elements?.compactMap { $0["id"]?.int } ?? [answer.status]
    }

    // MARK: - Points

    @Test func `D19: any embedded class with a type and coordinates is one of places, and no other property is`() throws {
        try with(["0,0", "1,1"]) { (server: WriteServer) throws in
            try server.done(
                "POST", "app/objects/Place",
                #"[{"id":2,"old":{"type":"point","coordinates":[0,0],"label":"x"}},{"id":3,"at":{"type":"Line","coordinates":[0,0]}},"#
                    + #"{"id":4,"at":{"type":"Point","coordinates":[0]}},{"id":5,"at":{"type":"Point","coordinates":[181,0]}}]"#)
            let box = "geoBox([-5.0, -5.0], [5, 5])"
            #expect(try ids(server, box) == [0, 1])
            #expect(try ids(server, box, "old") == [2])
            // They are embedded objects like others, with no address to write to.
            let schema = try server.get("app/schema/Marker").json
            #expect(schema["type"]?.text == "embedded" && schema["properties"]?.elements?.count == 3)
            let value = try server.value("Place/2/old")
            #expect(value.contains(#""type":"point","coordinates":[0.0,0.0]"#), "\(value)")
            for path in ["bare", "whole", "top", "number", "id", "at.coordinates", "at.type"] {
                let answer = try find(server, box, path)
                #expect(answer.status == 400 && answer.code == "invalid_query", "\(path): \(answer.text)")
            }
            #expect(try find(server, box, "nothing").code == "unknown_key_path")
        }
    }

    @Test func `D19: the vectors about places have the outcome of the reference engine`() throws {
        let suites = try QueryVectors(group: "geospatial").suites
        let folder = QueryVectors.folder.appendingPathComponent("realms").path
        let server = try TestServer([]) { $0.paths = suites.map { "\(folder)/\($0.realmName).realm" } }
        var count = 0
        var failures: [String] = []
        for suite in suites {
            // Arguments of vectors have a notation of their own, which the tests of all vectors translate.
            for entry in suite.cases where entry.arguments.isEmpty && entry.json["mapping"] == nil && !entry.isParseOnly {
                count += 1
                let answer = try server.request(
                    "POST", "/v1/realms/\(suite.realmName)/query/\(entry.className)", headers: [WriteServer.json],
                    body: #"{"where":\#(ParsedJSON.quoted(entry.query)),"count":"exact","limit":0}"#)
                let isRight =
                    entry.error == nil
                    ? answer.json["count"] == entry.json["count"] && answer.status == 200 : answer.status == 400
                if !isRight { failures.append("\(entry.label): \(answer.status) \(answer.text.prefix(200))") }
            }
        }
        #expect(count > 50 && failures == [])
    }

    @Test func `D20: altitudes change nothing, of places or of shapes`() throws {
        try with(["0,0", "0,0,8848.8", "0,0,-11000", "3,3,0"]) { (server: WriteServer) throws in
            for shape in [
                "geoBox([-1.0, -1.0], [1, 1])", "geoBox([-1.0, -1.0, 0.0], [1, 1, 9000.5])", "geoCircle([0, 0], 0.01)",
                "geoCircle([0, 0, 500.0], 0.01)", "geoCircle(geoPoint(0, 0, 7000.5), 64km)",
                "geoPolygon({[-1.0, -1.0, 1.0], [1, -1.0, 5.0], [0, 1, 3.0], [-1.0, -1.0, 1.0]})",
            ] {
                #expect(try ids(server, shape) == [0, 1, 2], "\(shape)")
            }
            // Distances are those along the ground.
            let answer = try server.get("app/objects/Place?sort=@distance(at,%5B0,0%5D),-id&fields=id,@distance&meta=none")
            let metres = answer.json["items"]?.elements?.compactMap { $0["@distance"]?.double } ?? []
            #expect(metres.count == 4 && metres.prefix(3).allSatisfy { $0 == 0 }, "\(answer.text)")
        }
    }

    // MARK: - Areas

    @Test func `D21: a box has what is inside and not what is outside, also across the antimeridian`() throws {
        try with(["5,5", "9.999,9.999", "10.001,5", "5,10.2", "5,-0.001", "179,5", "-179,5", "171,0", "-169,5", "0,5"]) {
            (server: WriteServer) throws in
            #expect(try ids(server, "geoBox([0, 0], [10, 10])") == [0, 1])
            // Corners stand in any order, and may be arguments.
            for shape in ["geoBox([10, 10], [0, 0])", "geoBox([0, 10], [10, 0])", "geoBox([10, 0], [0, 10])"] {
                #expect(try ids(server, shape) == [0, 1], "\(shape)")
            }
            #expect(try ids(server, "$0", args: #"[{"$geoBox":[[0,0],[10,10]]}]"#) == [0, 1])
            #expect(try ids(server, "geoBox([170, -10.0], [-170.0, 10])") == [5, 6, 7])
            for shape in ["geoBox([0, 0], [0, 0])", "geoBox([0, 0], [5, 0])", "geoBox([0, 91], [5, 10])"] {
                #expect(try find(server, shape).code == "invalid_query", "\(shape)")
            }
        }
    }

    @Test func `D21: a place on the edge of boxes is in exactly one of those that share it`() throws {
        // The edges of boxes along meridians and the equator are exact.
        try with(["0,2", "0,-2", "3,0", "-3.0,0", "0,0"]) { (server: WriteServer) throws in
            let boxes = ["[0, 0], [9, 9]", "[-9.0, 0], [0, 9]", "[-9.0, -9.0], [0, 0]", "[0, -9.0], [9, 0]"]
            let found = try boxes.map { try ids(server, "geoBox(\($0))") }
            #expect(found.flatMap { $0 }.sorted() == [0, 1, 2, 3, 4], "\(found)")
        }
    }

    @Test func `D22: a polygon has what is in its outer ring and in none of its holes`() throws {
        try with(["1,1", "5,5", "8,2", "5,7", "20,5", "7.5,7.5"]) { (server: WriteServer) throws in
            let outer = "{[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]}"
            let hole = "{[4, 4], [6, 4], [6, 6], [4, 6], [4, 4]}"
            #expect(try ids(server, "geoPolygon(\(outer))") == [0, 1, 2, 3, 5])
            #expect(try ids(server, "geoPolygon(\(outer), \(hole))") == [0, 2, 3, 5])
            #expect(try ids(server, "geoPolygon(\(outer), \(hole), {[7, 7], [8, 7], [8, 8], [7, 7.9], [7, 7]})") == [0, 2, 3])
            // What is in the hole is in the polygon that fills it.
            #expect(try ids(server, "geoPolygon(\(hole))") == [1])
            let rings = "[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]"
            #expect(try ids(server, "$0", args: #"[{"$geoPolygon":[\#(rings)]}]"#) == [0, 2, 3, 5])
        }
    }

    /// A rule that a polygon breaks, and what the answer says of it.
    private static let broken = [
        ("{[0, 0], [9, 0], [9, 9]}", "not closed"), ("{[0, 0], [9, 0], [0, 0]}", "fewer than three different points"),
        ("{[0, 0], [0, 0], [0, 0], [0, 0]}", "fewer than three different points"), ("{}", "expected"), ("", "expected"),
        ("{[0, 0], [9, 9], [9, 0], [0, 9], [0, 0]}", "two edges cross"),
        ("{[0, 0], [4, 0], [2, 2], [4, 4], [0, 4], [2, 2], [0, 0]}", "a vertex occurs twice"),
        ("OUTER, {[20, 1], [21, 1], [21, 2], [20, 1]}", "not inside the first ring"),
        ("OUTER, {[8, 1], [12, 1], [8, 2], [8, 1]}", "ring 1"), ("OUTER, {[0, 0], [9, 0], [5, 5], [0, 0]}", "share an edge"),
        ("OUTER, {[1, 1], [4, 1], [4, 4], [1, 1]}, {[4, 1], [4, 4], [6, 3], [4, 1]}", "share an edge"),
        ("OUTER, {[1, 1], [4, 1], [4, 4], [1, 1]}, {[3, 0.5], [6, 3], [2, 3], [3, 0.5]}", "crosses another ring"),
        ("OUTER, {}", "expected"), ("OUTER, {[2, 2], [2, 2], [2, 2]}", "fewer than three different points"),
        ("OUTER, {[1, 1], [8, 1], [8, 8], [1, 8], [1, 1]}, {[2, 2], [3, 2], [3, 3], [2, 2]}", "holes cannot be nested"),
        ("OUTER, {[2, 2], [3, 2], [3, 3]}", "not closed"), ("{[0, 0], [9, 0], [9, 91], [0, 0]}", "out of range"),
    ]

    @Test(arguments: broken)
    func `D23: a polygon that breaks a rule is refused, and the rule is named`(_ rings: String, _ rule: String) throws {
        let outer = "{[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}"
        try with(["2,2"]) { (server: WriteServer) throws in
            #expect(try ids(server, "geoPolygon(\(outer))") == [0])
            let text = rings.replacingOccurrences(of: "OUTER", with: outer)
            let answer = try find(server, "geoPolygon(\(text))")
            #expect(answer.status == 400 && answer.code == "invalid_query", "\(answer.text)")
            #expect(answer.text.contains(rule), "\(answer.text)")
            #expect(answer.json["parameter"]?.text == "where" || answer.json["pointer"]?.text == "/where", "\(answer.text)")
        }
    }

    @Test func `D25: a circle has what is within its radius, also across a pole, and no circle has a negative one`() throws {
        try with(["0,0", "1,0", "0,1.5", "0,2.5", "0,89", "180,89", "90,88.5", "0,87.5", "180,0"]) {
            (server: WriteServer) throws in
            #expect(try ids(server, "geoCircle([0, 0], 2deg)") == [0, 1, 2])
            #expect(try ids(server, "geoCircle([0, 0], 0.0349)") == [0, 1, 2])
            // The edge belongs to it: as far as the place, and a billionth less.
            #expect(try ids(server, "geoCircle([0, 0], 1.000000001deg)") == [0, 1])
            #expect(try ids(server, "geoCircle([0, 0], 0.999999999deg)") == [0])
            #expect(try ids(server, "geoCircle([0, 0], 0)") == [0])
            // From one degree before the pole to the other side of it.
            #expect(try ids(server, "geoCircle([0, 89], 2.01deg)") == [4, 5, 6, 7])
            #expect(try ids(server, "geoCircle([45, 90], 1.6deg)") == [4, 5, 6])
            #expect(try ids(server, "geoCircle([0, 0], 180deg)") == Array(0...8))
            for shape in ["geoCircle([0, 0], -0.1)", "geoCircle([0, 0], -1km)", "geoCircle([200, 0], 1)"] {
                let answer = try find(server, shape)
                #expect(answer.status == 400 && answer.code == "invalid_query", "\(shape): \(answer.text)")
            }
            for argument in [#"{"$geoCircle":{"center":[0,0],"radius":-0.1}}"#, #""geoCircle([0, 0], -0.1)""#] {
                let answer = try find(server, "$0", args: "[\(argument)]")
                #expect(answer.status == 400 && answer.text.contains("radius"), "\(answer.text)")
            }
        }
    }
}
