// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Binder {
    /// Returns the condition for `geoWithin`, which has links to locations on its left side, and a
    /// shape or an argument on its right side.
    ///
    /// - Throws: `QueryError.invalid` when the left side does not lead to locations or the shape is
    ///   not valid, and `.cancelled` when the check asks to stop while a large shape is validated.
    mutating func condition(_ syntax: PredicateSyntax.GeoWithin) throws(QueryError) -> any Condition {
        let range = syntax.property.range
        guard syntax.property.postfix == nil, element == nil, case .links(let links) = try resolve(syntax.property.path),
            let target = links.last?.target
        else {
            throw invalid(.geospatial, "the left side of 'geoWithin' must be a link to a location", range)
        }
        guard let locations = LocationReader(target, cancellation) else {
            throw invalid(
                .geospatial,
                "'\(target.className ?? target.name)' holds no locations: expected an embedded class with 'type' and "
                    + "'coordinates'",
                range)
        }
        for name in LocationReader.propertyNames {
            if let column = target.column(named: name) { paths.recorder.add(column, of: target) }
        }
        let shape = try shape(syntax)
        guard pool.admits(corners: shape.cornerCount) else {
            throw invalid(
                .geospatial, "the shapes of the query have more than \(GeoRegion.maximumVertexCount) points together",
                syntax.regionRange)
        }
        try storage { () throws(StorageError) in try cancellation.step(CancellationCheck.stepsOfLongWork) }
        let label = source(range.lowerBound..<syntax.regionRange.upperBound)
        let region = try region(shape, syntax.regionRange)
        let quantifier = syntax.property.quantifier ?? .any
        guard quantifier == .all, !links.allSatisfy({ $0.kind == .link }) else {
            let found = linked(links, LocationCondition(locations, in: region, cancellation), label: label)
            return quantifier == .none ? NotCondition(found) : found
        }
        return GeoCondition(
            LinkChain(links, cancellation), locations: locations, region: region, quantifier: quantifier, label: label,
            cancellation)
    }

    /// Returns the condition that one of the objects that a path leads to is at a location that fulfils another.
    private func linked(_ path: [LinkStep], _ location: any Condition, label: String) -> any Condition {
        var condition = location
        for step in path.reversed() {
            condition = LinkedCondition(
                step, .any, TargetTest(condition, on: step.target, missing: false, cancellation), label: label, cancellation)
        }
        return condition
    }

    /// Validates a shape. That takes long for a polygon of many corners, and can be cancelled.
    ///
    /// - Parameters:
    ///   - range: The bytes of the text, for the position of an error.
    /// - Throws: `QueryError.invalid` with the reason why the shape is not valid, and `.cancelled`
    ///   when the check asks to stop.
    private func region(_ shape: GeoShape, _ range: Range<Int>) throws(QueryError) -> GeoRegion {
        // A validation that was stopped has no result, so the stop is reported instead of it.
        func requireGoingOn() throws(QueryError) { try storage { () throws(StorageError) in try cancellation.requireGoingOn() } }
        let region: GeoRegion
        do throws(GeoRegion.Invalid) {
            region = try GeoRegion(shape) { cancellation.continues($0) }
        } catch {
            try requireGoingOn()
            throw invalid(.geospatial, error.text, range)
        }
        try requireGoingOn()
        return region
    }

    /// Returns the shape as it is written or passed, not validated.
    ///
    /// - Throws: `QueryError.invalid` when an argument is missing, or is neither a shape nor the
    ///   text of one.
    private func shape(_ syntax: PredicateSyntax.GeoWithin) throws(QueryError) -> GeoShape {
        switch syntax.region {
        case .shape(let shape):
            return try shape.shape { number throws(QueryError) in try coordinate(number, syntax.regionRange) }
        case .argument(let number):
            switch try argument(number, syntax.regionRange) {
            case .shape(let shape): return shape
            case .string(let text), .text(let text): return try shape(from: text, syntax.regionRange)
            default: throw invalid(.argument, "the argument is not a shape", syntax.regionRange)
            }
        }
    }

    /// Parses a shape that was passed as text. The query itself is well formed, so a text that is
    /// not a shape makes it invalid, not a syntax error.
    private func shape(from text: String, _ range: Range<Int>) throws(QueryError) -> GeoShape {
        do throws(QueryError) {
            return try GeoShape.parse(text)
        } catch {
            throw invalid(.argument, "the argument is not a shape: \(error)", range)
        }
    }

    /// Returns the number that is passed for a coordinate or a radius inside a shape.
    ///
    /// - Throws: `QueryError.invalid` when the argument is missing or is not a number.
    private func coordinate(_ number: Int, _ range: Range<Int>) throws(QueryError) -> Double {
        switch try argument(number, range) {
        case .int(let value): return Double(value)
        case .float(let value): return Double(value)
        case .double(let value): return value
        default: throw invalid(.argument, "argument $\(number) is not a coordinate", range)
        }
    }
}
