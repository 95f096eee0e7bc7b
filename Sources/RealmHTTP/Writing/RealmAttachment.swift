// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What `POST /v1/realms` asks for, read and checked by itself.
struct RealmAttachment: Sendable {
    let name: RealmName
    let source: Source
    var mode: Database.Mode?
    var key: EncryptionKey?
    var schema: SchemaInput?
    var migrationSteps: [MigrationStep]?
    var backlinkNames = BacklinkNames.none
    var maximumVersions: Int?

    enum Source: Sendable {
        /// A new file in the data folder.
        case new(path: String)
        case file(path: String)
        case memory(identifier: String)

        var path: String? {
            switch self {
            case .new(let path), .file(let path): return path
            case .memory: return nil
            }
        }
    }

    private static let names = [
        "name", "schema", "path", "inMemory", "mode", "encryptionKey", "backlinkNames", "schemaVersion", "migrations",
        "maxActiveVersions",
    ]

    init(_ call: Call, dataFolder: String?) throws(Problem) {
        let reader = SchemaReader(place: InputPlace())
        let json = try JSONParser.parse(call.request.body, depthLimit: call.limits.jsonDepth)
        let object = try reader.members(json, RealmAttachment.names, InputPlace())
        let path = try reader.text(object, "path", InputPlace())
        let identifier = try reader.text(object, "inMemory", InputPlace())
        let source = try RealmAttachment.source(path, identifier, object["name"]?.string, dataFolder)
        name = try RealmAttachment.name(try reader.text(object, "name", InputPlace()) ?? identifier, path)
        self.source = source
        mode = try RealmAttachment.mode(try reader.text(object, "mode", InputPlace()))
        key = try RealmAttachment.key(try reader.text(object, "encryptionKey", InputPlace()))
        if let names = object["backlinkNames"] { backlinkNames = try BacklinkNames(names) }
        try readSchema(object, reader, call.limits)
        if let value = object["maxActiveVersions"] {
            guard case .integer(let number) = value, number >= 2 else {
                throw reader.malformed("'maxActiveVersions' is a whole number of at least 2", InputPlace().inside("maxActiveVersions"))
            }
            maximumVersions = Int(number)
        }
        try checkCombinations()
    }

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
        if let steps = object["migrations"] {
            migrationSteps = try MigrationReader(limits).steps(steps, InputPlace().inside("migrations"))
        }
        wantedVersion = wantedVersion ?? schema?.version
    }

    /// The schema version that the realm has to have.
    private(set) var wantedVersion: UInt64?

    private static func source(
        _ path: String?, _ identifier: String?, _ name: String?, _ dataFolder: String?
    ) throws(Problem) -> Source {
        switch (path, identifier) {
        case (.some, .some): throw conflict("'path' and 'inMemory' exclude each other", "/inMemory")
        case (let path?, nil): return .file(path: path)
        case (nil, let identifier?): return .memory(identifier: identifier)
        case (nil, nil):
            guard let dataFolder else {
                throw Problem(.filesystemUnsuitable, "this server has no data folder; name a file with 'path', or start it with --data")
            }
            return .new(path: (dataFolder.hasSuffix("/") ? dataFolder : dataFolder + "/") + (name ?? "") + ".realm")
        }
    }

    private static func name(_ text: String?, _ path: String?) throws(Problem) -> RealmName {
        if let text {
            guard let name = RealmName(text) else {
                throw Problem(.invalidBody, "a name has 1 to 128 letters, digits, '.', '_' and '-'").with("pointer", "/name")
            }
            return name
        }
        guard let name = path.flatMap({ RealmName(file: $0) }) else {
            throw Problem(.invalidBody, "the realm needs a 'name'").with("pointer", "/name")
        }
        return name
    }

    private static func mode(_ text: String?) throws(Problem) -> Database.Mode? {
        guard let text else { return nil }
        guard let mode = Database.Mode(rawValue: text) else {
            throw Problem(.invalidBody, "'mode' has to be one of: rw, ro, copy").with("pointer", "/mode")
        }
        return mode
    }

    private static func key(_ text: String?) throws(Problem) -> EncryptionKey? {
        guard let text else { return nil }
        do throws(StorageError) {
            return try EncryptionKey(text: text)
        } catch {
            throw Problem(.invalidBody, "a key is 128 hex digits, or base64 of 64 bytes").with("pointer", "/encryptionKey")
        }
    }

    private static func conflict(_ detail: String, _ pointer: String) -> Problem {
        Problem(.conflictingParameters, detail).with("pointer", pointer)
    }

    private func checkCombinations() throws(Problem) {
        if case .memory = source {
            if key != nil { throw RealmAttachment.conflict("a realm in memory is not encrypted", "/encryptionKey") }
            if mode != nil, mode != .readWrite { throw RealmAttachment.conflict("a realm in memory has the mode rw", "/mode") }
        }
        if case .new = source, mode != nil, mode != .readWrite {
            throw RealmAttachment.conflict("a new file has the mode rw", "/mode")
        }
        if mode == .readOnly, schema != nil || migrationSteps != nil {
            throw RealmAttachment.conflict("the schema of a realm that is only read cannot be changed", "/mode")
        }
    }

    var openOptions: Database.OpenOptions {
        var options = Database.OpenOptions(key: key, mode: mode)
        if case .new = source {
            options.mode = .readWrite
            options.createsMissingFile = true
        }
        options.backlinkNames = backlinkNames
        if let maximumVersions { options.maximumVersionCount = maximumVersions }
        return options
    }
}
