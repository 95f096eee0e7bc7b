// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

indirect enum ShapeSyntax: Sendable {
    enum Coordinate: Sendable {
        case number(Double)
        case argument(Int)
    }

    struct Point: Sendable {
        let longitude: Coordinate
        let latitude: Coordinate
        let altitude: Double?
    }

    case box(Point, Point)
    case circle(Point, radius: Coordinate)
    case polygon([[Point]])
}
