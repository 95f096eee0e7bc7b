// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
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
}
