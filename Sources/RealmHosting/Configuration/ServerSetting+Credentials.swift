// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The settings of keys, issuers, certificates and other credentials.
extension ServerSetting {
    static let credentials: [ServerSetting] = [
        ServerSetting(
            "credentials.jwt", effect: .now,
            read: { reader, json, options throws(Problem) in
                let issuers = try reader.list(json) { reader, one throws(Problem) in try issuer(one, reader) }
                guard issuers.count <= IssuerSettings.countLimit else {
                    throw reader.problem("there are \(issuers.count) issuers, more than \(IssuerSettings.countLimit)")
                }
                var names: Set<[UInt8]> = []
                for (index, issuer) in issuers.enumerated() where !names.insert(Array(issuer.issuer.utf8)).inserted {
                    throw reader.inside(index).inside("issuer").problem("the issuer '\(issuer.issuer)' is stated twice")
                }
                options.tokenIssuers = issuers
            },
            show: { .array($0.tokenIssuers.map(show)) })
    ]

    /// The members of an issuer of tokens.
    private static let issuerMembers = ["issuer", "audience", "jwks", "secretFile", "jwksCA", "roles", "claims"]

    /// Reads an issuer of tokens.
    private static func issuer(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> IssuerSettings {
        let object = try SchemaReader(place: reader.place).members(json, issuerMembers, reader.place)
        guard let issuer = object["issuer"], let audience = object["audience"] else {
            throw reader.problem("'issuer' and 'audience' must be given")
        }
        var settings = IssuerSettings(
            issuer: try name(issuer, reader.inside("issuer")), audiences: try names(audience, reader.inside("audience")),
            source: try source(object, reader))
        // The ids of principals are an issuer, a line feed and a subject.
        guard settings.issuer.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw reader.inside("issuer").problem("control characters are not allowed in an issuer")
        }
        guard !settings.audiences.isEmpty else { throw reader.inside("audience").problem("expected an audience") }
        if let authority = object["jwksCA"] {
            guard case .url(let address) = settings.source, !address.isPlain else {
                throw reader.inside("jwksCA").problem("'jwksCA' belongs to an address with https:")
            }
            settings.certificateAuthority = try reader.inside("jwksCA").path(authority)
        }
        if let roles = object["roles"] {
            settings.roles = try reader.inside("roles").list(roles) { reader, one throws(Problem) in try name(one, reader) }
        }
        if let claims = object["claims"] { try read(claims, reader.inside("claims"), &settings) }
        return settings
    }

    /// Reads the paths of claims.
    private static func read(_ json: JSONValue, _ reader: SettingReader, _ settings: inout IssuerSettings) throws(Problem) {
        let object = try SchemaReader(place: reader.place).members(json, ["roles", "subject"], reader.place)
        if let roles = object["roles"] { settings.rolesPath = try path(roles, reader.inside("roles")) }
        if let subject = object["subject"] { settings.subjectPath = try path(subject, reader.inside("subject")) }
    }

    /// Reads where the keys of an issuer are: exactly one of `jwks` and `secretFile`.
    private static func source(_ object: JSONObject, _ reader: SettingReader) throws(Problem) -> IssuerSettings.Source {
        switch (object["jwks"], object["secretFile"]) {
        case (nil, let file?): return .secretFile(try reader.inside("secretFile").path(file))
        case (let jwks?, nil):
            let reader = reader.inside("jwks")
            let text = try reader.text(jwks)
            guard KeyAddress.isAddress(text) else { return .file(try reader.path(jwks)) }
            guard let address = KeyAddress(text) else { throw reader.problem(KeyAddress.rule) }
            return .url(address)
        default: throw reader.problem("one of 'jwks' and 'secretFile' must be given")
        }
    }

    /// Reads a text that is not empty.
    private static func name(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> String {
        let text = try reader.text(json)
        guard !text.isEmpty else { throw reader.problem("expected a non-empty string") }
        return text
    }

    /// Reads a text, or a list of texts.
    private static func names(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> [String] {
        guard json.array != nil else { return [try name(json, reader)] }
        return try reader.list(json) { reader, one throws(Problem) in try name(one, reader) }
    }

    /// Reads the path of a claim.
    private static func path(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> String {
        let text = try reader.text(json)
        guard text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
            throw reader.problem("expected names with dots between them, such as realm_access.roles")
        }
        return text
    }

    /// Returns an issuer as it is read. Secrets are in files and not part of it.
    private static func show(_ settings: IssuerSettings) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = [
            ("issuer", .string(settings.issuer)), ("audience", .array(settings.audiences.map { .string($0) })),
        ]
        switch settings.source {
        case .file(let path): members.append(("jwks", .string(path)))
        case .url(let address): members.append(("jwks", .string(address.text)))
        case .secretFile(let path): members.append(("secretFile", .string(path)))
        }
        if let authority = settings.certificateAuthority { members.append(("jwksCA", .string(authority))) }
        members.append(("roles", .array(settings.roles.map { .string($0) })))
        var claims: [(name: String, value: JSONValue)] = []
        if let path = settings.rolesPath { claims.append(("roles", .string(path))) }
        claims.append(("subject", .string(settings.subjectPath)))
        members.append(("claims", .object(JSONObject(claims))))
        return .object(JSONObject(members))
    }
}

/// The setting of roles and their rights.
extension ServerSetting {
    static let roles: [ServerSetting] = [
        ServerSetting(
            "roles", effect: .now,
            read: { reader, json, options throws(Problem) in options.roles = try RoleReader(reader: reader).book(json) },
            show: { .object($0.roles.entry) })
    ]
}
