// SPDX-License-Identifier: Apache-2.0

extension Parser {
    /// What stands behind `geoWithin`.
    mutating func parseRegion(of property: PropertySyntax) throws(QueryError) -> GeoWithinSyntax {
        let start = token.start
        let region: GeoWithinSyntax.Region
        if token.kind == .argument {
            region = .argument(argumentNumber(prefix: 1))
            try advance()
        } else {
            region = .shape(try parseShape())
        }
        return GeoWithinSyntax(property: property, region: region, regionRange: start..<previousEnd)
    }

    /// A shape that is the whole text: the form in which an argument may give one.
    mutating func parseWholeShape() throws(QueryError) -> ShapeSyntax {
        let shape = try parseShape()
        guard token.kind == .end else { throw unexpected(["end of query"]) }
        return shape
    }

    private mutating func parseShape() throws(QueryError) -> ShapeSyntax {
        let kind = token.kind
        guard kind == .geoBox || kind == .geoCircle || kind == .geoPolygon else {
            throw unexpected(["geoBox", "geoCircle", "geoPolygon", "an argument"])
        }
        try advance()
        try require(.leftParenthesis)
        let shape: ShapeSyntax
        switch kind {
        case .geoBox:
            let first = try parsePoint()
            try require(.comma)
            shape = .box(first, try parsePoint())
        case .geoCircle:
            let center = try parsePoint()
            try require(.comma)
            shape = .circle(center, radius: try parseCoordinate())
        default:
            var rings: [[ShapeSyntax.Point]] = []
            repeat { rings.append(try parseRing()) } while try take(.comma)
            shape = .polygon(rings)
        }
        try require(.rightParenthesis)
        return shape
    }

    private mutating func parseRing() throws(QueryError) -> [ShapeSyntax.Point] {
        try require(.leftBrace)
        var points: [ShapeSyntax.Point] = []
        repeat { points.append(try parsePoint()) } while try take(.comma)
        try require(.rightBrace)
        return points
    }

    private mutating func parsePoint() throws(QueryError) -> ShapeSyntax.Point {
        try require(.leftBracket)
        let longitude = try parseCoordinate()
        try require(.comma)
        let latitude = try parseCoordinate()
        var altitude: Double?
        if try take(.comma) {
            guard token.kind == .float else { throw unexpected(["a number with a decimal point"]) }
            altitude = floatValue
            try advance()
        }
        try require(.rightBracket)
        return ShapeSyntax.Point(longitude: longitude, latitude: latitude, altitude: altitude)
    }

    private mutating func parseCoordinate() throws(QueryError) -> ShapeSyntax.Coordinate {
        let coordinate: ShapeSyntax.Coordinate
        switch token.kind {
        case .float: coordinate = .number(floatValue)
        case .natural: coordinate = .number(Double(Literal.integer(tokenBytes)))
        case .argument: coordinate = .argument(argumentNumber(prefix: 1))
        default: throw unexpected(["a coordinate"])
        }
        try advance()
        return coordinate
    }

    /// The value of a float token; the suffix `f` has no meaning in a coordinate.
    private var floatValue: Double {
        let text = lexer.text(of: token)
        return Double(text.hasSuffix("f") ? String(text.dropLast()) : text) ?? .nan
    }
}
