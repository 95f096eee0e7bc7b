// SPDX-License-Identifier: Apache-2.0

/// Reads JSON bodies.
enum RequestBody {
    /// The object in the body of a query; an empty body is none.
    ///
    /// `isRequired` makes an empty body an error.
    static func object(
        _ request: Request, _ limits: Limits, types: [String] = queryTypes
    ) throws(Problem) -> JSONObject {
        try requireJSON(request, types)
        let value = try request.readJSON(limits)
        guard let object = value.object else {
            throw Problem(.invalidBody, "the body is \(value.kind), but has to be an object")
        }
        return object
    }

    /// JSON and Extended JSON.
    static let queryTypes = ["application/json", "application/ejson"]

    /// Refuses other media types.
    static func requireJSON(_ request: Request, _ types: [String] = queryTypes) throws(Problem) {
        guard let text = request.headers[.contentType] else {
            guard request.body.isEmpty else { throw unsupported("the body has no Content-Type") }
            return
        }
        guard let type = MediaType(text), types.contains(type.essence) else {
            throw unsupported("the media type of the body is not taken here")
        }
        if let charset = type.parameters["charset"], charset.lowercased() != "utf-8" {
            throw unsupported("the only character set of JSON is UTF-8")
        }
    }

    private static func unsupported(_ detail: String) -> Problem {
        Problem(.unsupportedMediaType, detail).with(header: HeaderField("Accept-Query", "application/json, application/ejson"))
    }
}
