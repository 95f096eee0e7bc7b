// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The members about its file in the document of a realm that is not open, as far as they are known.
///
/// Members that are not known are left out, and named in the member `unknown`. So no member that is left out, and no null, can be
/// taken for a fact.
struct RealmFacts {
    /// The mode in which the realm is opened.
    var mode: String?
    /// Whether the realm is in memory.
    var isInMemory: Bool?
    /// Whether the file is encrypted.
    var isEncrypted: Bool?
    /// The file format.
    var fileFormat: Int?
    /// The length of the file in bytes.
    var fileBytes: Int?
    /// The path of the file; nil for a realm without one.
    private let path: String?
    /// What was read from the contents of the file; nil when it could not be read.
    var contents: Contents?

    /// What the newest version of a file contains.
    struct Contents {
        /// The number of bytes of the file that are in use.
        let usedBytes: Int
        /// The version, as its sender sees it.
        let version: Version
        /// Whether the next opening gives the version the same token.
        let keepsToken: Bool
    }

    /// Makes the facts of a realm that is being opened, or of a file that was not looked at.
    ///
    /// - Parameter path: The path of its file; nil for a realm without one.
    init(path: String?) {
        self.path = path
        isInMemory = path == nil ? nil : false
        fileBytes = path.flatMap { System.entry(atPath: $0)?.byteCount }
    }

    /// Adds what the reason why a file cannot be opened says about it.
    mutating func take(_ error: StorageError) {
        guard case .refused(let refusal) = error else { return }
        switch refusal {
        case .encryptionKeyRequired:
            // Without a key an encrypted file looks like one that is no Realm file, but for its table of pages.
            if let path, (try? FileGlance(path: path))?.encryption == .encrypted { isEncrypted = true }
        case .formatUnsupported(let found, _), .formatNotWritable(let found): fileFormat = found
        default: break
        }
    }

    /// Adds what was read from the file.
    ///
    /// - Parameters:
    ///   - facts: What was read.
    ///   - scope: What the sender of the request sees; nil for everything.
    ///   - isReadOnly: Whether the whole server is for reading only.
    mutating func take(_ facts: ClosedFacts, shownBy scope: (any VersionScope)?, isReadOnly: Bool) {
        mode = isReadOnly && facts.mode != .follow ? Database.Mode.readOnly.rawValue : facts.mode.rawValue
        isEncrypted = facts.isEncrypted
        fileFormat = facts.fileFormat
        fileBytes = facts.fileBytes
        contents = Contents(
            usedBytes: facts.usedBytes, version: facts.version.shown(by: scope), keepsToken: facts.keepsToken)
    }

    /// Writes the member `writtenBy` with the programs that write a format, unless it is the one that is written here.
    static func write(writersOf format: Int, to writer: inout JSONWriter) {
        guard format != FileHeader.writtenFormat, let writers = FileFormat.writers(of: format) else { return }
        writer.member("writtenBy", text: writers)
    }

    /// Writes the members, and the names of those that are not known.
    ///
    /// - Parameters:
    ///   - writer: The writer, in the document of the realm.
    ///   - isDefault: Whether the realm is the default realm.
    ///   - tellsAll: Whether the sender of the request is told sizes and use.
    func write(to writer: inout JSONWriter, isDefault: Bool, tellsAll: Bool) {
        var unknown: [String] = []
        func write<Value>(_ name: StaticString, _ value: Value?, _ write: (Value) -> Void) {
            if let value { write(value) } else { unknown.append(name.description) }
        }
        write("mode", mode) { writer.member("mode", text: $0) }
        writer.member("default", bool: isDefault)
        write("inMemory", isInMemory) { writer.member("inMemory", bool: $0) }
        write("encrypted", isEncrypted) { writer.member("encrypted", bool: $0) }
        write("fileFormat", fileFormat) { writer.member("fileFormat", int: $0) }
        if let fileFormat { RealmFacts.write(writersOf: fileFormat, to: &writer) }
        let snapshot = contents?.version.snapshot
        write("schemaVersion", snapshot) { snapshot in
            if let version = snapshot.schemaVersion {
                writer.member("schemaVersion", int: version)
            } else {
                writer.nullMember("schemaVersion")
            }
        }
        if tellsAll {
            write("fileBytes", fileBytes) { writer.member("fileBytes", int: $0) }
            write("usedBytes", contents) { writer.member("usedBytes", int: $0.usedBytes) }
        }
        write("classes", snapshot) { writer.member("classes", int: $0.classes.count) }
        if tellsAll { write("empty", snapshot) { writer.member("empty", bool: $0.isEmpty) } }
        write("version", contents.flatMap { $0.keepsToken ? $0.version.tokenText : nil }) { writer.member("version", text: $0) }
        if tellsAll {
            // Nothing holds a version of a realm that is not open, or waits to write to it.
            writer.member("liveVersions", int: 0)
            writer.member("pendingWrites", int: 0)
        }
        guard !unknown.isEmpty else { return }
        writer.key("unknown")
        writer.beginArray()
        for name in unknown { writer.string(name) }
        writer.endArray()
    }
}
