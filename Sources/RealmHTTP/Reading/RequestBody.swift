// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads JSON bodies of requests that do not write.
enum RequestBody {
    /// Returns the object in the body of a request.
    ///
    /// - Parameters:
    ///   - request: A request whose body has arrived completely.
    ///   - limits: The bounds of the server for JSON.
    ///   - types: The media types that the operation accepts.
    /// - Throws: `unsupported_media_type`, `invalid_json` for a body that is empty or not JSON, and
    ///   `invalid_body` for JSON that is no object.
    static func object(_ request: Request, _ limits: Limits, types: BodyTypes) throws(Problem) -> JSONObject {
        _ = try types.type(of: request)
        let value = try request.readJSON(limits)
        guard let object = value.object else {
            throw Problem(.invalidBody, "the body is \(value.kind), but has to be an object")
        }
        return object
    }
}
