// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A media type that the body of a request can have.
///
/// The raw value is the essence of the type: type and subtype in lower case, without parameters.
/// The order of the cases is the order in which header fields list them.
package enum BodyType: String, CaseIterable, Sendable {
    /// A merge patch (RFC 7396).
    case mergePatch = "application/merge-patch+json"
    /// A JSON Patch (RFC 6902).
    case jsonPatch = "application/json-patch+json"
    /// A JSON document (RFC 8259).
    case json = "application/json"
    /// A document in MongoDB Extended JSON.
    case ejson = "application/ejson"
    /// One JSON document per line.
    case ndjson = "application/x-ndjson"
    /// Comma-separated values (RFC 4180).
    case csv = "text/csv"
    /// A database of SQLite.
    case sqlite = "application/vnd.sqlite3"
    /// The bytes of a data property as they are.
    case bytes = "application/octet-stream"

    /// Whether the body is text, which has to be UTF-8.
    package var isText: Bool { self != .bytes && self != .sqlite }
}
