// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Parser {
    /// Parses the right side of `geoWithin`: a shape or an argument.
    ///
    /// - Parameter property: The left side, which was parsed already.
    mutating func parseRegion(of property: ExpressionSyntax.Property) throws(QueryError) -> PredicateSyntax.GeoWithin {
        let start = token.start
        let region: PredicateSyntax.GeoWithin.Region
        if token.kind == .argument {
            region = .argument(argumentNumber(prefix: 1))
            try advance()
        } else {
            region = .shape(try parseShape())
        }
        return PredicateSyntax.GeoWithin(property: property, region: region, regionRange: start..<previousEnd)
    }

    /// Parses a text that consists of one shape. An argument may give a shape in this form.
    ///
    /// - Throws: `QueryError.syntax` when the text is not a shape, or when something follows it.
    mutating func parseWholeShape() throws(QueryError) -> ShapeSyntax {
        let shape = try parseShape()
        guard token.kind == .end else { throw unexpected(["end of query"]) }
        return shape
    }

    /// Parses `geoBox(…)`, `geoCircle(…)` or `geoPolygon(…)`. Whether the shape is valid is checked when the query is bound.
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
            let radius = try parseCoordinate()
            shape = .circle(center, radius: radius, try parseUnit())
        default:
            var rings: [[ShapeSyntax.Point]] = []
            repeat { rings.append(try parseRing()) } while try take(.comma)
            shape = .polygon(rings)
        }
        try require(.rightParenthesis)
        return shape
    }

    /// Parses a ring of a polygon: points in braces with commas between them, at least one.
    private mutating func parseRing() throws(QueryError) -> [ShapeSyntax.Point] {
        try require(.leftBrace)
        var points: [ShapeSyntax.Point] = []
        repeat { points.append(try parsePoint()) } while try take(.comma)
        try require(.rightBrace)
        return points
    }

    /// Parses the unit after a radius, if there is one.
    private mutating func parseUnit() throws(QueryError) -> DistanceUnit {
        guard token.kind == .identifier else { return .radians }
        guard let unit = DistanceUnit(rawValue: lexer.text(of: token)) else {
            throw unexpected(DistanceUnit.allCases.map { "'\($0.rawValue)'" })
        }
        try advance()
        return unit
    }

    /// Parses `geoPoint(longitude, latitude)`, with an optional altitude.
    private mutating func parseNamedPoint() throws(QueryError) -> ShapeSyntax.Point {
        try advance()
        try require(.leftParenthesis)
        let longitude = try parseCoordinate()
        try require(.comma)
        let latitude = try parseCoordinate()
        var altitude: Double?
        if try take(.comma) {
            guard case .number(let number) = try parseCoordinate() else { throw unexpected(["an altitude in numbers"]) }
            altitude = number
        }
        try require(.rightParenthesis)
        return ShapeSyntax.Point(longitude: longitude, latitude: latitude, altitude: altitude)
    }

    /// Parses `[longitude, latitude]`, with an optional altitude, which must be a float token, or `geoPoint(…)` in its place.
    private mutating func parsePoint() throws(QueryError) -> ShapeSyntax.Point {
        if token.kind == .identifier, lexer.text(of: token).lowercasedASCII == "geopoint" { return try parseNamedPoint() }
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

    /// Parses a coordinate or a radius: a float, a natural number or an argument. A signed integer
    /// such as `-1` is not allowed; `-1.0` is.
    private mutating func parseCoordinate() throws(QueryError) -> ShapeSyntax.Coordinate {
        let coordinate: ShapeSyntax.Coordinate
        switch token.kind {
        case .float: coordinate = .number(floatValue)
        case .natural: coordinate = .number(Double(Literal.integer(tokenBytes)))
        case .argument: coordinate = .argument(argumentNumber(prefix: 1))
        case .number where tokenBytes.first == ASCII.minus:
            throw unexpected(["a coordinate with a decimal point: \(lexer.text(of: token)).0"])
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
