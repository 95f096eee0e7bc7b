// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// One of the two versions of a comparison, as its reader sees it.
package struct ComparedVersion: Sendable {
    package let snapshot: Snapshot
    /// The number or the token of the version, for the output.
    package let version: String
    /// The path of the file, as a command was given it; nil for a realm of a server.
    package let file: String?
    /// The id of the snapshot that a client holds; nil for none.
    package let lease: String?
    /// Whether the version may have more objects, classes or properties than its reader sees.
    package let isPartial: Bool

    /// Names the newest version of a file by its number.
    package init(_ snapshot: Snapshot, file: String) {
        self.init(snapshot, version: String(snapshot.version), file: file)
    }

    /// Names a version.
    ///
    /// - Parameters:
    ///   - version: Its number or token.
    ///   - file: The path of its file.
    ///   - lease: The id of the snapshot that a client holds.
    ///   - isPartial: Whether it may have more than its reader sees.
    package init(_ snapshot: Snapshot, version: String, file: String? = nil, lease: String? = nil, isPartial: Bool = false) {
        self.snapshot = snapshot
        self.version = version
        self.file = file
        self.lease = lease
        self.isPartial = isPartial
    }

    /// The title for people: the file with the version.
    var title: String { file.map { "\($0) (version \(version))" } ?? "version \(version)" }

    /// Writes what identifies it.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let file { writer.member("file", text: file) }
        writer.member("version", text: version)
        if let lease { writer.member("snapshot", text: lease) }
        writer.member("format", int: snapshot.fileFormat)
        writer.key("schemaVersion")
        if let schemaVersion = snapshot.schemaVersion { writer.int(schemaVersion) } else { writer.null() }
        if isPartial { writer.member("partial", bool: true) }
        writer.endObject()
    }
}
