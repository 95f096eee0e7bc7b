// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension BodyType {
    /// Returns the schema of a body of this type in the API description.
    ///
    /// - Parameter schema: The schema of the JSON forms of the body. Lines, tables, bytes and a
    ///   JSON Patch have schemas of their own.
    func schema(_ schema: DocumentValue) -> DocumentValue {
        switch self {
        case .json, .ejson, .mergePatch: return schema
        case .jsonPatch: return OpenAPIParts.schema("JSONPatch")
        case .ndjson: return OpenAPIParts.schema("Lines")
        case .csv: return OpenAPIParts.schema("Table")
        case .bytes, .sqlite: return ["type": "string", "format": "binary"]
        }
    }
}
