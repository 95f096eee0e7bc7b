// SPDX-License-Identifier: Apache-2.0

/// Reads JSON bodies of requests that do not write.
enum RequestBody {
    /// Returns the object in the body of a request.
    ///
    /// - Parameters:
    ///   - request: A request whose body has arrived completely.
    ///   - limits: The bounds of the server for JSON.
    ///   - types: The media types that are accepted.
    /// - Throws: `unsupported_media_type`, `invalid_json` for a body that is empty or not JSON, and
    ///   `invalid_body` for JSON that is no object.
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

    /// The media types of a query's body: JSON and Extended JSON.
    static let queryTypes = ["application/json", "application/ejson"]

    /// Throws `unsupported_media_type` unless the body has one of some media types, in UTF-8. An
    /// empty body needs no type.
    static func requireJSON(_ request: Request, _ types: [String] = queryTypes) throws(Problem) {
        guard let text = request.headers[.contentType] else {
            guard request.body.isEmpty else { throw unsupported("the body has no Content-Type") }
            return
        }
        guard let type = MediaType(text), types.contains(type.essence) else {
            throw unsupported("the media type of the body is not supported here")
        }
        if let charset = type.parameters["charset"], charset.lowercased() != "utf-8" {
            throw unsupported("the only character set of JSON is UTF-8")
        }
    }

    /// Makes the problem of a media type that is not accepted. `Accept-Query` lists those that are.
    private static func unsupported(_ detail: String) -> Problem {
        Problem(.unsupportedMediaType, detail).with(header: HeaderField("Accept-Query", "application/json, application/ejson"))
    }
}
