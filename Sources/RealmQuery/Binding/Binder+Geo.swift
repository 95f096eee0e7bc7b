// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Binder {
    /// `geoWithin`: links to locations on its left side, a shape or an argument on its right side.
    mutating func condition(_ syntax: GeoWithinSyntax) throws(QueryError) -> any Condition {
        let range = syntax.property.range
        guard syntax.property.postfix == nil, element == nil, case .links(let links) = try resolve(syntax.property.path),
            let target = links.last?.target
        else {
            throw invalid(.geospatial, "the left side of 'geoWithin' must be a link to a location", range)
        }
        guard let locations = LocationReader(target) else {
            throw invalid(
                .geospatial,
                "'\(target.className ?? target.name)' holds no locations: an embedded class with 'type' and 'coordinates' is needed",
                range)
        }
        for name in ["type", "coordinates"] {
            if let column = target.column(named: name) { paths.recorder.add(column, of: target) }
        }
        let shape = try shape(syntax)
        guard pool.admits(corners: shape.cornerCount) else {
            throw invalid(
                .geospatial, "the shapes of the query have more than \(GeoRegion.maximumVertexCount) points together",
                syntax.regionRange)
        }
        try storage { () throws(StorageError) in try cancellation.step(CancellationCheck.stepsOfLongWork) }
        return GeoCondition(
            LinkChain(links, cancellation), locations: locations, region: try region(shape, syntax.regionRange),
            quantifier: syntax.property.quantifier ?? .any,
            label: source(range.lowerBound..<syntax.regionRange.upperBound), cancellation)
    }

    /// The checked region of a shape. The check of a large polygon takes a while and can be cancelled.
    private func region(_ shape: GeoShape, _ range: Range<Int>) throws(QueryError) -> GeoRegion {
        // A check that was stopped has found out nothing.
        func requireGoingOn() throws(QueryError) { try storage { () throws(StorageError) in try cancellation.requireGoingOn() } }
        let region: GeoRegion
        do throws(GeoRegion.Invalid) {
            region = try GeoRegion(shape) { cancellation.goesOn($0) }
        } catch {
            try requireGoingOn()
            throw invalid(.geospatial, error.text, range)
        }
        try requireGoingOn()
        return region
    }

    /// The shape as it is written or passed.
    private func shape(_ syntax: GeoWithinSyntax) throws(QueryError) -> GeoShape {
        switch syntax.region {
        case .shape(let shape):
            return try shape.shape { number throws(QueryError) in try coordinate(number, syntax.regionRange) }
        case .argument(let number):
            switch try argument(number, syntax.regionRange) {
            case .shape(let shape): return shape
            case .string(let text): return try shape(from: text, syntax.regionRange)
            default: throw invalid(.argument, "the argument is no shape", syntax.regionRange)
            }
        }
    }

    /// A shape passed as text. The query itself is well formed, so text that is no shape makes it invalid.
    private func shape(from text: String, _ range: Range<Int>) throws(QueryError) -> GeoShape {
        do throws(QueryError) {
            return try GeoShape.parse(text)
        } catch {
            throw invalid(.argument, "the argument is no shape: \(error)", range)
        }
    }

    /// The number that an argument stands for inside a shape.
    private func coordinate(_ number: Int, _ range: Range<Int>) throws(QueryError) -> Double {
        switch try argument(number, range) {
        case .int(let value): return Double(value)
        case .float(let value): return Double(value)
        case .double(let value): return value
        default: throw invalid(.argument, "argument $\(number) is no coordinate", range)
        }
    }
}
