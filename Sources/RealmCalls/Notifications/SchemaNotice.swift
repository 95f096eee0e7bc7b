// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The notice that a commit has changed the schema of the realm.
///
/// It is the event `schema` of a stream and the member `schema` of a poll's response.
struct SchemaNotice: Sendable {
    /// The version of the commit that changed the schema.
    let commit: UInt64
    /// The schema version before the change; nil when the realm had none.
    let oldVersion: UInt64?
    /// The schema version after the change; nil when the realm has none.
    let newVersion: UInt64?
    /// The token of the version that changed the schema.
    let version: String
    /// Whether classes and properties were only added. After any other change all subscriptions restart.
    let isAdditive: Bool

    /// Writes the notice as a JSON object. It does not contain `isAdditive`.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("oldVersion")
        if let oldVersion { writer.int(oldVersion) } else { writer.null() }
        writer.key("newVersion")
        if let newVersion { writer.int(newVersion) } else { writer.null() }
        writer.member("version", text: version)
        writer.endObject()
    }
}
