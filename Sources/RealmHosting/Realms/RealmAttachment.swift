// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmCalls
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The body of `POST /v1/realms`, read and checked without regard to any file.
///
/// `RealmEndpoints` reads it on the daemon's thread. `locate(in:)` then resolves its paths on a
/// worker, and `AttachOperation` carries it out.
package struct RealmAttachment: Sendable {
    /// The name under which the realm will be served: the member `name`, otherwise the identifier
    /// in memory or the name of the file.
    package let name: RealmName
    /// The place of the bytes of the realm to attach.
    package private(set) var source: Source
    /// Whether there is a file at the path. Valid after `locate(in:)`.
    private(set) var exists = false
    /// The options that hold for as long as the realm is served.
    private(set) var settings: RealmSettings
    /// The classes that the realm has to have; nil keeps the schema of the file.
    var schema: SchemaInput?
    /// The migrations of data of an older schema to `wantedVersion`; nil for none.
    var migrations: AttachMigrations?
    /// Whether all data is deleted when the schema does not fit without a migration.
    var startsOver = false
    /// Whether the migration steps of the request may lose data.
    var allowsDataLoss = false
    /// The path of a file to copy when the realm's file does not exist; nil for none.
    var seed: String?
    /// The data that the new realm begins with; nil for none.
    private(set) var sample: Sample?
    /// The members of the body as JSON, without the encryption key. Administrators see them in the realm's document.
    let options: String
    /// The members of the body that hold for as long as the realm is served.
    private let lasting: JSONObject

    /// The place of the bytes of a realm that is attached: a new file, an existing one, or memory.
    package enum Source: Sendable {
        /// A new file in the data folder, with its path.
        case new(path: String)
        /// A file that exists already, or that a seed is copied to.
        case file(path: String)
        /// A realm in memory. Realms with the same identifier share their data.
        case memory(identifier: String)
        /// The file that the client has sent, of which a private copy is served.
        case sent(BodyFile)

        /// The path of the file; nil for a realm in memory.
        package var path: String? {
            switch self {
            case .new(let path), .file(let path): return path
            case .memory, .sent: return nil
            }
        }
    }

    /// The members that the body of an attach request may have.
    private static let names =
        [
            "name", "schema", "path", "inMemory", "encryptionKey", "schemaVersion", "migrations", "onMigrationNeeded",
            "allowDataLoss", "seed", "sample",
        ] + RealmSettings.names

    /// Reads the body of a request.
    ///
    /// - Parameters:
    ///   - call: The request, whose body is taken.
    ///   - folder: The folder for new files; nil when the server has none, so that a request for a
    ///     new file is refused.
    /// - Throws: `invalid_body`, `conflicting_parameters` or another problem of the request, for
    ///   members that are unknown, malformed or exclude each other.
    package init(_ call: Call, folder: DataFolder?) throws(Problem) {
        let reader = SchemaReader(place: InputPlace())
        let json = try call.request.body.takeJSON(call.limits.json)
        try SyncMembers.refuse(in: json, at: InputPlace())
        let object = try reader.members(json, RealmAttachment.names, InputPlace())
        let path = try RealmAttachment.path(object, "path", reader)
        let identifier = try reader.text(object, "inMemory", InputPlace())
        let source = try RealmAttachment.source(
            path: path, identifier: identifier, name: object["name"]?.string, folder: folder)
        name = try RealmAttachment.name(try reader.text(object, "name", InputPlace()) ?? identifier, path ?? identifier)
        self.source = source
        settings = try RealmSettings(object)
        settings.key = try reader.key(object, "encryptionKey", InputPlace())
        options = RealmAttachment.shown(object)
        lasting = JSONObject(
            object.members.filter { RealmSettings.names.contains($0.name) }.map { (name: $0.name, value: $0.value) })
        try readSchema(object, reader, call.limits)
        try readOpening(object, reader)
        try checkCombinations()
    }

    /// Describes the request to serve a private copy of a file that the client has sent.
    ///
    /// - Parameters:
    ///   - key: The encryption key of the file; nil for a plain one.
    package init(of file: BodyFile, named name: RealmName, key: EncryptionKey?) {
        self.name = name
        source = .sent(file)
        settings = RealmSettings()
        settings.mode = .copy
        settings.key = key
        options = RealmAttachment.shown(JSONObject([(name: "name", value: .string(name.text))]))
        lasting = JSONObject([])
    }

    /// Returns the members of an attach request as JSON text, without the encryption key.
    private static func shown(_ object: JSONObject) -> String {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        for member in object.members where member.name != "encryptionKey" {
            writer.key(member.name)
            writer.write(member.value)
        }
        writer.endObject()
        return writer.buffer.text
    }

    /// Reads the members about opening once: the seed, and the handling of a needed migration.
    private mutating func readOpening(_ object: JSONObject, _ reader: SchemaReader) throws(Problem) {
        startsOver = try reader.choice(object, "onMigrationNeeded", among: ["fail", "delete"], at: InputPlace()) == "delete"
        allowsDataLoss = try reader.flag(object, "allowDataLoss", InputPlace()) ?? false
        seed = try RealmAttachment.path(object, "seed", reader)
        let names = Sample.allCases.map(\.rawValue)
        sample = try reader.choice(object, "sample", among: names, at: InputPlace()).flatMap { Sample(rawValue: $0) }
    }

    /// Reads `schema`, `schemaVersion` and `migrations`, which have to agree on the version.
    private mutating func readSchema(_ object: JSONObject, _ reader: SchemaReader, _ limits: Limits) throws(Problem) {
        let version = try reader.version(object["schemaVersion"], InputPlace().inside("schemaVersion"))
        if let value = object["schema"] {
            schema = try SchemaReader(place: InputPlace().inside("schema")).schema(value)
            if let version {
                guard schema?.version == nil || schema?.version == version else {
                    throw RealmAttachment.conflict("'schemaVersion' differs from that of 'schema'", "/schemaVersion")
                }
                schema?.version = version
            }
        } else if let version {
            schema = nil
            wantedVersion = version
        }
        if let value = object["migrations"] {
            migrations = try MigrationReader(limits).migrations(value, InputPlace().inside("migrations"))
        }
        wantedVersion = wantedVersion ?? schema?.version
        guard migrations == nil || wantedVersion != nil else {
            throw reader.malformed("'migrations' lead to a 'schemaVersion', which is missing", InputPlace().inside("migrations"))
        }
    }

    /// The schema version that the realm to attach has to have; nil for any.
    private(set) var wantedVersion: UInt64?

    /// The place of the realm from the members `path`, `inMemory` and `name`. Without the first two
    /// it is a new file in the data folder.
    private static func source(
        path: String?, identifier: String?, name: String?, folder: DataFolder?
    ) throws(Problem) -> Source {
        switch (path, identifier) {
        case (.some, .some): throw conflict("'path' and 'inMemory' cannot be combined", "/inMemory")
        case (let path?, nil): return .file(path: path)
        case (nil, let identifier?): return .memory(identifier: identifier)
        case (nil, nil):
            guard let folder else {
                throw Problem(
                    .filesystemUnsuitable, "this server has no data folder; name a file with 'path', or start it with --data")
            }
            do throws(StorageError) {
                return .new(path: try folder.newPath(of: name ?? ""))
            } catch {
                throw Problem(opening: error)
            }
        }
    }

    /// The name of the realm, from text or from the path of its file. Throws `invalid_body` for a
    /// name that does not follow the rule.
    private static func name(_ text: String?, _ path: String?) throws(Problem) -> RealmName {
        if let text {
            guard let name = RealmName(text) else { throw Problem(.invalidBody, RealmName.rule).with("pointer", "/name") }
            guard path != nil || !text.utf8.reversed().starts(with: ".realm".utf8.reversed()) else {
                throw Problem(.invalidBody, "the ending .realm is added automatically: name the realm '\(text.dropLast(6))'")
                    .with("pointer", "/name")
            }
            return name
        }
        guard let name = path.flatMap({ RealmName(file: $0) }) else {
            throw Problem(.invalidBody, "the realm needs a 'name'; \(RealmName.rule)").with("pointer", "/name")
        }
        return name
    }

    /// The problem `conflicting_parameters`, which points at a member.
    private static func conflict(_ detail: String, _ pointer: String) -> Problem {
        Problem(.conflictingParameters, detail).with("pointer", pointer)
    }

    /// Throws `conflicting_parameters` for members that have no meaning together, such as an
    /// encryption key for a realm in memory. `RealmSettings` has checked its own members against each other.
    private func checkCombinations() throws(Problem) {
        if case .memory = source {
            if settings.key != nil { throw RealmAttachment.conflict("a realm in memory is not encrypted", "/encryptionKey") }
            if isNotForWriting { throw RealmAttachment.conflict("a realm in memory has the mode rw", "/mode") }
            if settings.shownClasses != nil {
                throw RealmAttachment.conflict("a realm in memory shows all of its classes", "/classes")
            }
            if seed != nil { throw RealmAttachment.conflict("'seed' and 'inMemory' cannot be combined", "/seed") }
            if settings.compaction != nil {
                throw RealmAttachment.conflict("a realm in memory is not compacted", "/compactOnOpen")
            }
            if settings.upgradesInPlace { throw RealmAttachment.conflict("a realm in memory has the current format", "/upgrade") }
        }
        if sample != nil {
            if case .file = source { throw RealmAttachment.conflict("only a new realm begins with a sample", "/sample") }
            guard schema == nil, wantedVersion == nil, seed == nil, settings.shownClasses == nil else {
                throw RealmAttachment.conflict("a sample has a schema of its own", "/sample")
            }
        }
        if startsOver {
            guard schema != nil else {
                throw RealmAttachment.conflict("'onMigrationNeeded' needs a schema to start over with", "/onMigrationNeeded")
            }
            guard settings.shownClasses == nil else {
                throw RealmAttachment.conflict("starting over removes all classes, also those that are not shown", "/classes")
            }
            guard migrations == nil else {
                throw RealmAttachment.conflict("'migrations' and starting over cannot be combined", "/onMigrationNeeded")
            }
        }
        if case .new = source, isNotForWriting {
            throw RealmAttachment.conflict("a new file has the mode rw", "/mode")
        }
        if settings.mode == .readOnly || settings.mode == .follow, schema != nil || migrations != nil {
            throw RealmAttachment.conflict("the schema of a read-only realm cannot be changed", "/mode")
        }
    }

    /// Whether the request asks for another mode than `rw`.
    private var isNotForWriting: Bool { settings.mode.map { $0 != .readWrite } ?? false }

    /// Reads a path: 1 to 4096 bytes, without NUL and without a slash at the end.
    private static func path(_ object: JSONObject, _ member: String, _ reader: SchemaReader) throws(Problem) -> String? {
        guard let path = try reader.text(object, member, InputPlace()) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.count <= AttachRoots.maximumPathByteCount else {
            throw reader.malformed(
                "a path has 1 to \(AttachRoots.maximumPathByteCount) bytes, none of which is 0", InputPlace().inside(member))
        }
        guard !path.hasSuffix("/") else {
            throw reader.malformed("the path of a file does not end with '/'", InputPlace().inside(member))
        }
        return path
    }

    // MARK: - Places

    /// Resolves the paths, following symbolic links, and checks whether the file exists.
    ///
    /// - Parameters:
    ///   - roots: The folders that paths may lead into; nil for none.
    ///   - folder: The data folder, any of whose folders may have a file of the name already; nil for none.
    /// - Throws: `path_not_allowed` for a path that leads outside, whether or not there is a file, so that the response does not
    ///   reveal its existence; `file_exists` for a new file whose name is taken.
    package mutating func locate(in roots: AttachRoots?, _ folder: DataFolder?) throws(Problem) {
        switch source {
        case .memory, .sent: return
        case .new(let path):
            let path = folder?.existingPath(of: name.text) ?? path
            let place = try AttachRoots.place(path, roots, "/name")
            source = .new(path: place)
            exists = System.entry(atPath: path, followsLink: false) != nil
        case .file(let path):
            let place = try AttachRoots.place(path, roots, "/path")
            exists = System.entry(atPath: place, followsLink: false) != nil
            // A schema gives a missing file its initial content.
            let isMade = !exists && schema != nil && seed == nil && !isNotForWriting
            source = isMade ? .new(path: place) : .file(path: place)
            if isMade, let folder { try requireServed(place, in: folder) }
        }
        seed = try seed.map { path throws(Problem) in try AttachRoots.place(path, roots, "/seed") }
        if let problem = taken { throw problem }
    }

    /// Throws `invalid_body` for a new file in the data folder that would not be served there under the name of the realm after a
    /// restart.
    private func requireServed(_ place: String, in folder: DataFolder) throws(Problem) {
        guard AttachRoots.isInside(place, folder.path) else { return }
        guard let served = folder.servedName(ofPath: place) else {
            throw Problem(
                .invalidBody, "the data folder has no place for this file: its name ends with .realm, and \(RealmName.rule)"
            )
            .with("pointer", "/path")
        }
        guard served.text.utf8.elementsEqual(name.text.utf8) else {
            throw Problem(.invalidBody, "a file of this name in the data folder is served as '\(served.text)'").with(
                "pointer", "/name")
        }
    }

    /// The problem `file_exists` of a new file whose name is taken; nil when it is free.
    private var taken: Problem? {
        guard case .new(let path) = source, exists, seed == nil else { return nil }
        let body = "{\"name\":\(DocumentValue.string(name.text).json),\"path\":\(DocumentValue.string(path).json)}"
        return Problem(.fileExists, "there is a file of this name already; \(body) serves it")
    }

    /// Returns the same request, whose paths are resolved, for another attempt.
    ///
    /// - Parameter key: The key to open the file with; nil keeps the one of the request.
    func again(with key: EncryptionKey?) -> RealmAttachment {
        var attachment = self
        if let key { attachment.settings.key = key }
        attachment.exists = source.path.flatMap { System.entry(atPath: $0, followsLink: false) } != nil
        return attachment
    }

    /// The path of the file that the realm is opened from at first: the seed, if it is going to be copied.
    var firstPath: String? { plants ? seed : source.path }

    /// Whether the realm starts empty: a realm in memory, or a new file without a seed.
    var isNew: Bool {
        switch source {
        case .memory: return true
        case .new: return !exists && seed == nil
        case .file, .sent: return false
        }
    }

    /// Whether the seed is copied, which it is only when there is no file yet.
    var plants: Bool { seed != nil && !exists && source.path != nil }

    /// The problem `file_not_found` when the file to open, or the seed to copy, does not exist, or `file_exists` when
    /// the file to make does; nil when all is as the request needs it.
    package func missing() -> Problem? {
        if let taken { return taken }
        if plants, let seed { return System.entry(atPath: seed) == nil ? missingSeed : nil }
        if case .file = source, !exists {
            let hint = isNotForWriting ? "" : "; with a 'schema', {\"classes\":[]} for none, it is made"
            return Problem(.fileNotFound, "no such file\(hint)").with("pointer", "/path")
        }
        return nil
    }

    /// The problem `file_not_found` that points at the seed.
    var missingSeed: Problem { Problem(.fileNotFound, "the seed does not exist").with("pointer", "/seed") }

    /// The stored entry of the realm for the next start of the server; nil for a realm in memory.
    var entry: AttachedRealms.Entry? {
        source.path.map { AttachedRealms.Entry(name: name, path: $0, hasKey: settings.key != nil, options: lasting) }
    }

    /// The problem `already_attached` when another realm serves the file; nil when none does. A private copy is a separate file,
    /// so it never conflicts.
    func served(by catalog: Catalog) -> Problem? {
        guard case .file(let path) = source, settings.mode != .copy, settings.mode != .follow,
            let other = catalog.nameServing(path: path)
        else {
            return nil
        }
        return Problem(Catalog.Failure.fileServed(name: other))
    }

    /// Returns the options to open this realm with.
    ///
    /// - Parameter base: The options of the server. Those of the request replace them where it has
    ///   any.
    func adding(to base: Database.OpenOptions) -> Database.OpenOptions {
        var options = settings.adding(to: base)
        if case .new = source {
            options.mode = .readWrite
            options.createsMissingFile = true
        }
        options.isExactPath = true
        // The path of a file without a name is a link of the system.
        if case .sent = source { options.isExactPath = false }
        return options
    }
}

/// The problem of a realm that the catalog does not take.
extension Problem {
    /// The header field of a conflict that is over in a moment.
    static let soon = HeaderField("Retry-After", "1")

    /// Makes the problem for a realm that the catalog does not take.
    ///
    /// - Parameter failure: The reason: the name or the file is in use, or the realm was detached in the meantime.
    package init(_ failure: Catalog.Failure) {
        switch failure {
        case .alreadyAttached: self.init(.alreadyAttached, "there is a realm of this name already")
        case .fileServed(let name): self.init(.alreadyAttached, "the file is served as '\(name)' already")
        case .detached:
            self.init(.fileInUse, "the realm was detached while it was being opened; send the request again")
            self = with(header: Problem.soon)
        }
    }
}
