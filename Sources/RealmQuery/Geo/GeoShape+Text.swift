// SPDX-License-Identifier: Apache-2.0

extension GeoShape {
    /// Reads a shape as it stands in a query, `geoBox([0, 0], [1, 1])`: the form of a string argument of `geoWithin`.
    ///
    /// Throws `.syntax`, with positions in `text`, for any other text; arguments are not allowed within.
    package static func parse(_ text: String) throws(QueryError) -> GeoShape {
        var parser = try Parser(text)
        return try parser.parseWholeShape().shape { index throws(QueryError) in
            throw .syntax(position: 0, detail: "$\(index) in the text of a shape", expected: ["a coordinate"])
        }
    }
}
