// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmQuery
import RealmTestSupport
import Testing

@Suite("Regions on the sphere")
struct GeoRegionTests {
    private func region(_ text: String) throws -> GeoRegion { try GeoRegion(try GeoShape.parse(text)) }

    @Test(.enabled(if: Fixtures.shared != nil, "all cases are only in the shared material"))
    func `the reference engine's cases, borders included`() throws {
        var count = 0
        for suite in try QueryVectors(group: "geospatial").suites {
            let objects = suite.json["objects"]?.elements ?? []
            for row in suite.cases {
                let words = row.query.split(separator: " ", maxSplits: 2).map(String.init)
                guard words.count == 3, ["loc", "location"].contains(words[0]), words[1].lowercased() == "geowithin",
                    row.error != "syntax", let region = try region(words[2], row)
                else { continue }
                count += 1
                let found = objects.filter {
                    $0["class"]?.text == row.className && lies($0["values"]?[words[0]], region, objects)
                }
                #expect(found.compactMap { $0["id"] } == row.json["matches"]?.elements, "\(row.label)")
            }
        }
        #expect(count > 30)
    }

    /// The region on the right of a case, or nil where there is none, as there should be.
    private func region(_ text: String, _ row: QueryVectors.Case) throws -> GeoRegion? {
        let shape: GeoShape
        if text == "$0", let argument = row.arguments.first {
            if let members = argument.members,
                case .shape(let given)? = try? VectorShapes.argument(members[0].name, members[0].value)
            {
                shape = given
            } else if let text = argument.text, let parsed = try? GeoShape.parse(text) {
                shape = parsed
            } else {
                #expect(row.error == "invalid", "\(row.label)")
                return nil
            }
        } else {
            guard !text.contains("$") else { return nil }
            shape = try GeoShape.parse(text)
        }
        do {
            let region = try GeoRegion(shape)
            #expect(row.error == nil, "\(row.label)")
            return region
        } catch {
            #expect(row.error == "invalid", "\(row.label): \(error)")
            return nil
        }
    }

    @Test func `checking a shape of many edges ends soon after it is told to, and finds nothing out`() throws {
        let corners = (0..<2000).map { number in
            let angle = Double(number) / 1000 * .pi
            let radius = number % 2 == 0 ? 1.0 : 40.0
            return GeoPoint(longitude: radius * cos(angle), latitude: radius * sin(angle))
        }
        let star = GeoShape.polygon([corners + [corners[0]]])
        var all = 0
        _ = try GeoRegion(star) { comparisons in
            all += comparisons
            return true
        }
        var asked = 0
        var most = 0
        _ = try? GeoRegion(star) { comparisons in
            asked += comparisons
            most = max(most, comparisons)
            return asked < all / 10
        }
        #expect(all > 100_000)
        #expect(asked <= all / 10 + most)
        #expect(most <= corners.count)
    }

    private func lies(_ link: ParsedJSON?, _ region: GeoRegion, _ objects: [ParsedJSON]) -> Bool {
        guard let target = link?["$link"]?.elements,
            let values = objects.first(where: { $0["class"] == target[0] && $0["id"] == target[1] })?["values"],
            values["type"]?.text?.lowercased() == "point", let place = values["coordinates"]?.elements, place.count >= 2,
            let longitude = try? VectorShapes.number(place[0]), let latitude = try? VectorShapes.number(place[1])
        else { return false }
        return region.contains(longitude: longitude, latitude: latitude)
    }

    @Test(arguments: [
        "geoBox([0, 0], [0, 0])", "geoBox([0, 0], [5, 0])", "geoBox([0, 91], [5, 10])", "geoBox([181, 0], [5, 10])",
        "geoCircle([0, 0], -0.1)", "geoCircle([200, 0], 1)", "geoPolygon({[0, 0], [1, 0], [1, 1]})",
        "geoPolygon({[0, 0], [1, 0], [0, 0]})", "geoPolygon({[0, 0], [0, 0], [0, 0], [0, 0]})",
        "geoPolygon({[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]})",
        "geoPolygon({[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 1], [0, 0]})",
        "geoPolygon({[0, 0, 1.0], [1, 0], [1, 1], [0, 0, 2.0]})",
        // Holes: outside, crossing, sharing an edge, touching twice, nested, the same, one another's neighbours.
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[20, 1], [21, 1], [21, 2], [20, 1]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[8, 1], [12, 1], [8, 2], [8, 1]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[0, 0], [9, 0], [5, 5], [0, 0]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[0, 0], [5, 5], [9, 9], [4, 5], [0, 0]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[1, 1], [8, 1], [8, 8], [1, 8], [1, 1]}, {[2, 2], [3, 2], [3, 3], [2, 2]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[2, 2], [3, 2], [3, 3], [2, 2]}, {[1, 1], [8, 1], [8, 8], [1, 8], [1, 1]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[1, 1], [4, 1], [4, 4], [1, 1]}, {[4, 1], [4, 4], [6, 3], [4, 1]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[1, 1], [4, 1], [4, 4], [1, 1]}, {[3, 0.5], [6, 3], [2, 3], [3, 0.5]})",
    ])
    func `shapes that are none`(_ text: String) {
        #expect(throws: GeoRegion.Invalid.self) { try region(text) }
    }

    @Test(arguments: [
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[0, 0], [5, 2], [2, 5], [0, 0]})",
        "geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]}, {[1, 1], [4, 1], [4, 4], [1, 1]}, {[4, 4], [8, 4], [8, 8], [4, 4]})",
        "geoPolygon({[0, 0], [0, 0], [9, 0], [9, 9], [9, 9], [0, 9], [0, 0]})",
    ])
    func `holes may touch the outer ring and each other in a vertex`(_ text: String) throws { _ = try region(text) }

    @Test(arguments: [
        ("geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]})", true),
        ("geoPolygon({[0, 0], [0, 9], [9, 9], [9, 0], [0, 0]})", true),
        ("geoBox([9, 9], [0, 0])", true), ("geoBox([0, 9], [9, 0])", true), ("geoBox([-100.0, -10.0], [100.0, 10.0])", false),
        ("geoBox([-80.0, -10.0], [100.0, 10.0])", false), ("geoBox([-79.0, -10.0], [100.0, 10.0])", true),
    ])
    func `the order of a ring does not matter, and more than half of the sphere is turned round`(_ text: String, _ isInside: Bool)
        throws
    {
        #expect(try region(text).contains(longitude: 5, latitude: 5) == isInside)
    }

    @Test func `a box over the antimeridian, and around a pole`() throws {
        let box = try region("geoBox([170, -10.0], [-170.0, 10])")
        #expect(box.contains(longitude: 180, latitude: 0) && box.contains(longitude: -180, latitude: 0))
        #expect(box.contains(longitude: 175, latitude: 5) && box.contains(longitude: -175, latitude: -5))
        #expect(!box.contains(longitude: 0, latitude: 0) && !box.contains(longitude: 165, latitude: 0))
        let polar = try region("geoPolygon({[0, 80], [90, 80], [180, 80], [-90.0, 80], [0, 80]})")
        #expect(polar.contains(longitude: 33, latitude: 90) && polar.contains(longitude: -120, latitude: 86))
        #expect(!polar.contains(longitude: 45, latitude: 80), "edges are arcs of great circles, which bulge toward the pole")
        #expect(!polar.contains(longitude: 0, latitude: -90))
    }

    @Test func `circles contain their border, and everything from π on`() throws {
        #expect(try region("geoCircle([10, 10], 0)").contains(longitude: 10, latitude: 10))
        #expect(try !region("geoCircle([10, 10], 0)").contains(longitude: 10.0000001, latitude: 10))
        #expect(try region("geoCircle([0, 90], 0.2)").contains(longitude: 123, latitude: 80))
        let quarter = try region("geoCircle([0, 0], 1.58)")
        #expect(quarter.contains(longitude: 90, latitude: 0) && !quarter.contains(longitude: 91, latitude: 0))
        let all = try GeoRegion(.circle(center: GeoPoint(longitude: 0, latitude: 0), radius: .infinity))
        #expect(all.contains(longitude: 100, latitude: -80))
        #expect(throws: GeoRegion.Invalid.self) {
            try GeoRegion(.circle(center: GeoPoint(longitude: 0, latitude: 0), radius: .nan))
        }
    }

    @Test(
        arguments: [
            (0, 91), (0, -91), (181, 0), (-181, 0), (.nan, 0), (0, .nan), (.infinity, 0),
        ] as [(Double, Double)])
    func `places that are none lie nowhere`(_ longitude: Double, _ latitude: Double) throws {
        #expect(try !region("geoCircle([0, 0], 10.0)").contains(longitude: longitude, latitude: latitude))
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `the cells of a grid share their borders without gaps or overlaps`(_ seed: UInt64) throws {
        let step = [1.0, 7.5, 10, 30][Int(seed)]
        let cells = try (0..<5).flatMap { row in
            try (0..<5).map { column in
                let (west, south) = (-2.5 * step + Double(column) * step, -2.5 * step + Double(row) * step)
                return try GeoRegion(
                    .box(
                        GeoPoint(longitude: west, latitude: south), GeoPoint(longitude: west + step, latitude: south + step)))
            }
        }
        // Corners of the inner cells, and points on the meridians between them.
        for row in 1...4 {
            for column in 1...4 {
                let (longitude, latitude) = (-2.5 * step + Double(column) * step, -2.5 * step + Double(row) * step)
                #expect(
                    cells.count { $0.contains(longitude: longitude, latitude: latitude) } == 1, "corner \(longitude) \(latitude)")
                let middle = latitude - step * 0.37
                #expect(cells.count { $0.contains(longitude: longitude, latitude: middle) } == 1, "edge \(longitude) \(middle)")
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random triangles agree with the turns at their corners`(_ seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var count = 0
        for _ in 0..<500 {
            let corners = (0..<3).map { _ in random.place(spread: seed % 2 == 0 ? 60 : 0.01) }
            guard let triangle = try? GeoRegion(.polygon([corners + [corners[0]]])) else { continue }
            for _ in 0..<10 {
                let place = random.place(spread: seed % 2 == 0 ? 60 : 0.01)
                guard let expected = HalfSpaces.contains(corners, place) else { continue }
                count += 1
                #expect(
                    triangle.contains(longitude: place.longitude, latitude: place.latitude) == expected,
                    "seed \(seed): \(corners) \(place)")
            }
        }
        #expect(count > 4000, "seed \(seed)")
    }

    @Test func `a polygon of many vertices is checked in good time`() throws {
        let count = 4000
        let ring = (0...count).map { index in
            let angle = Double(index % count) / Double(count) * 2 * .pi
            let radius = 20 + (index % 2 == 0 ? 0.5 : 0)
            return GeoPoint(longitude: radius * Circle.cosine(angle), latitude: radius * Circle.sine(angle))
        }
        let time = try ContinuousClock().measure {
            let region = try GeoRegion(.polygon([ring]))
            #expect(region.contains(longitude: 1, latitude: 1) && !region.contains(longitude: 21, latitude: 1))
        }
        #expect(time < .seconds(30))
    }
}
