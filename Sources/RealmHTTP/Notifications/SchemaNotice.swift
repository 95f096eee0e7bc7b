// SPDX-License-Identifier: Apache-2.0

/// What is told of a changed schema.
struct SchemaNotice: Sendable {
    /// The commit that changed it.
    let commit: UInt64
    let oldVersion: UInt64?
    let newVersion: UInt64?
    /// The token of the commit.
    let version: String
    /// Whether classes and properties only came; otherwise everything is told anew.
    let isAdditive: Bool

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
