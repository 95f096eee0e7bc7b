// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmLegacy
internal import RealmPlatform
internal import RealmStorage

/// The members about its file in the document of a realm that is not open, as far as they are known.
///
/// Members that are not known are left out, and named in the member `unknown`. So no member that is left out, and no null, can be
/// taken for a fact.
struct ClosedRealmFileMembers {
    /// The mode in which the realm is opened.
    var mode: String?
    var isInMemory: Bool?
    var isEncrypted: Bool?
    var fileFormat: Int?
    /// The length of the file in bytes.
    var fileBytes: Int?
    /// The path of the file; nil for a realm without one.
    private let path: String?
    /// The contents read from the file; nil when it could not be read.
    var contents: Contents?

    /// The content of the newest version of a file, as the sender of the request sees it.
    struct Contents {
        /// The number of bytes of the file that are in use; nil when it is not known.
        let usedBytes: Int?
        /// The schema version; nil when there is none.
        let schemaVersion: UInt64?
        let classCount: Int
        /// Whether no class has any object.
        let isEmpty: Bool
        /// The token of the version; nil when the next opening gives it another one.
        let token: String?
    }

    /// Makes the facts of a realm that is being opened, or of a file that was not read.
    ///
    /// - Parameter path: The path of its file; nil for a realm without one.
    init(path: String?) {
        self.path = path
        isInMemory = path == nil ? nil : false
        fileBytes = path.flatMap { System.entry(atPath: $0)?.byteCount }
    }

    /// Adds the facts in the reason why a file cannot be opened.
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

    /// Adds the facts read from the file.
    ///
    /// - Parameters:
    ///   - scope: The part that the sender of the request may see; nil for everything.
    ///   - isReadOnly: Whether the whole server is for reading only.
    mutating func take(_ facts: ClosedFacts, shownBy scope: (any VersionScope)?, isReadOnly: Bool) {
        mode = (isReadOnly ? facts.mode.onlyReading : facts.mode).rawValue
        isEncrypted = facts.isEncrypted
        fileFormat = facts.fileFormat
        fileBytes = facts.fileBytes
        if let version = facts.version?.shown(by: scope) {
            let snapshot = version.snapshot
            contents = Contents(
                usedBytes: facts.usedBytes, schemaVersion: snapshot.schemaVersion, classCount: snapshot.classes.count,
                isEmpty: snapshot.isEmpty, token: facts.keepsToken ? version.tokenText : nil)
        } else if scope == nil, let old = facts.old, let schemaVersion = try? old.schemaVersion() {
            contents = Contents(
                usedBytes: facts.usedBytes, schemaVersion: schemaVersion, classCount: old.classCount, isEmpty: old.isEmpty,
                token: nil)
        }
    }

    /// Writes the member `writtenBy` with the programs that write a format, unless it is the one that is written here.
    static func write(writersOf format: Int, to writer: inout JSONWriter) {
        guard format != FileHeader.writtenFormat, let writers = FileFormat.writers(of: format) else { return }
        writer.member("writtenBy", text: writers)
    }

    /// Writes the members, and the names of unknown ones.
    ///
    /// - Parameters:
    ///   - writer: The writer, in the document of the realm.
    ///   - showsAll: Whether the sender of the request gets sizes and use.
    func write(to writer: inout JSONWriter, isDefault: Bool, showsAll: Bool) {
        var unknown: [String] = []
        func write<Value>(_ name: StaticString, _ value: Value?, _ write: (Value) -> Void) {
            if let value { write(value) } else { unknown.append(name.description) }
        }
        write("mode", mode) { writer.member("mode", text: $0) }
        writer.member("default", bool: isDefault)
        write("inMemory", isInMemory) { writer.member("inMemory", bool: $0) }
        write("encrypted", isEncrypted) { writer.member("encrypted", bool: $0) }
        write("fileFormat", fileFormat) { writer.member("fileFormat", int: $0) }
        if let fileFormat { ClosedRealmFileMembers.write(writersOf: fileFormat, to: &writer) }
        write("schemaVersion", contents) { contents in
            if let version = contents.schemaVersion {
                writer.member("schemaVersion", int: version)
            } else {
                writer.nullMember("schemaVersion")
            }
        }
        if showsAll {
            write("fileBytes", fileBytes) { writer.member("fileBytes", int: $0) }
            write("usedBytes", contents?.usedBytes) { writer.member("usedBytes", int: $0) }
        }
        write("classes", contents) { writer.member("classes", int: $0.classCount) }
        if showsAll { write("empty", contents) { writer.member("empty", bool: $0.isEmpty) } }
        write("version", contents?.token) { writer.member("version", text: $0) }
        if showsAll {
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
