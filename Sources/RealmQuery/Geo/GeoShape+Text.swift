// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension GeoShape {
    /// Parses a shape in the notation of queries, such as `geoBox([0, 0], [1, 1])`. A string
    /// argument of `geoWithin` has this form.
    ///
    /// - Parameter text: The shape and nothing else. Arguments are not allowed within.
    /// - Throws: `QueryError.syntax`, with positions in `text`.
    package static func parse(_ text: String) throws(QueryError) -> GeoShape {
        var parser = try Parser(text)
        return try parser.parseWholeShape().shape { index throws(QueryError) in
            throw .syntax(position: 0, detail: "$\(index) is not allowed in the text of a shape", expected: ["a coordinate"])
        }
    }
}
