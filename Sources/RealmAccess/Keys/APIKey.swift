// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The stored part of an API key: everything but its secret.
package struct APIKey: Sendable, Equatable {
    /// The id, which is part of the key.
    package let id: String
    /// The name for people, which is the claim `sub` too.
    package let name: String
    /// The SHA-256 of the secret.
    package var digest: [UInt8]
    package let roles: [String]
    /// The only realm that the key is good for; nil for all.
    package let realm: String?
    /// Additional claims, for rules.
    package let claims: JSONObject
    /// The networks from which the key may be used; none for all.
    package let networks: [AddressRange]
    /// The time at which the key was made, in seconds since 1970.
    package let created: Int64
    /// The time at which the key expires, in seconds since 1970; nil for never.
    package let expires: Int64?
    /// The time of the last use, in seconds since 1970, to the minute; nil for never.
    package var lastUsed: Int64?

    /// Makes the record of a key that is new.
    ///
    /// - Parameters:
    ///   - name: The name for people.
    ///   - realm: The only realm that it is good for; nil for all.
    ///   - claims: Additional claims.
    ///   - networks: The networks from which it may be used; none for all.
    ///   - expires: The time at which it expires, in seconds since 1970; nil for never.
    package init(
        _ text: APIKeyText, name: String, roles: [String], realm: String? = nil, claims: JSONObject = JSONObject([]),
        networks: [AddressRange] = [], expires: Int64? = nil
    ) {
        id = text.id
        self.name = name
        digest = text.digest
        self.roles = roles
        self.realm = realm
        self.claims = claims
        self.networks = networks
        created = APIKey.now
        self.expires = expires
    }

    /// The present time in seconds since 1970.
    package static var now: Int64 { WallClock.now().nanoseconds / 1_000_000_000 }

    /// Whether everything but the time of the last use is equal, so that facts derived from the key stay true.
    func isSame(as other: APIKey) -> Bool {
        var copy = other
        copy.lastUsed = lastUsed
        return self == copy
    }

    /// The claims of the holder: `sub` is the name, unless it is stated.
    var allClaims: JSONObject {
        guard claims["sub"] == nil else { return claims }
        return JSONObject([("sub", .string(name))] + claims.members)
    }

    // MARK: - The file

    /// Reads the record that `json` makes; nil when it is malformed.
    init?(_ json: JSONValue) {
        guard let object = json.object, let id = object["id"]?.string, APIKeyText.isID(id), let name = object["name"]?.string,
            let digest = object["sha256"]?.string.flatMap({ FileDigest.bytes(ofHex: $0) }),
            digest.count == DigestContext.digestByteCount,
            let roles = APIKey.texts(object["roles"]), let networks = APIKey.texts(object["from"]),
            let created = APIKey.seconds(object["created"]), let created
        else { return nil }
        let ranges = networks.compactMap { AddressRange($0) }
        // A key that would be good for more than was stated is none.
        guard ranges.count == networks.count, let expires = APIKey.seconds(object["expires"]),
            let lastUsed = APIKey.seconds(object["lastUsed"]), let realm = APIKey.text(object["realm"])
        else { return nil }
        self.id = id
        self.name = name
        self.digest = digest
        self.roles = roles
        self.realm = realm
        claims = object["claims"]?.object ?? JSONObject([])
        self.networks = ranges
        self.created = created
        self.expires = expires
        self.lastUsed = lastUsed
    }

    /// Returns the texts of an array; nil for anything else.
    private static func texts(_ json: JSONValue?) -> [String]? {
        guard let json, json != .null else { return [] }
        guard let elements = json.array else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    /// Returns a number, or no number for null; nil for anything else.
    private static func seconds(_ json: JSONValue?) -> Int64?? {
        switch json {
        case nil, .null?: return .some(nil)
        case .integer(let number)?: return .some(number)
        default: return nil
        }
    }

    /// Returns a text, or no text for null; nil for anything else.
    private static func text(_ json: JSONValue?) -> String?? {
        switch json {
        case nil, .null?: return .some(nil)
        case .string(let text)?: return .some(text)
        default: return nil
        }
    }

    /// The record as it is stored.
    var json: JSONValue {
        let number: (Int64?) -> JSONValue = { $0.map { .integer($0) } ?? .null }
        return .object(
            JSONObject([
                ("id", .string(id)), ("name", .string(name)), ("sha256", .string(FileDigest.hex(digest))),
                ("roles", .array(roles.map { .string($0) })), ("realm", realm.map { .string($0) } ?? .null),
                ("claims", .object(claims)), ("from", .array(networks.map { .string($0.text) })),
                ("created", .integer(created)), ("expires", number(expires)), ("lastUsed", number(lastUsed)),
            ]))
    }

    // MARK: - Showing

    /// Writes the public members: all but the digest.
    package func write(to writer: inout JSONWriter) {
        writer.member("id", text: id)
        writer.member("name", text: name)
        writer.key("roles")
        writer.write(.array(roles.map { .string($0) }))
        writer.member("realm", text: realm)
        writer.key("claims")
        writer.write(.object(claims))
        writer.key("from")
        writer.write(.array(networks.map { .string($0.text) }))
        for (name, time) in [("created", Optional(created)), ("expires", expires), ("lastUsed", lastUsed)] {
            writer.key(name)
            if let time { writer.string(APIKey.time(time)) } else { writer.null() }
        }
    }

    /// Returns a time as text, in RFC 3339.
    private static func time(_ seconds: Int64) -> String {
        let buffer = OutputBuffer(capacity: 32)
        buffer.append(logTime: WallClock(nanoseconds: seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue))
        return buffer.text
    }

    /// The key as a line for people, with the fields separated by tabs.
    package var line: String {
        let times = [Optional(created), expires, lastUsed].map { $0.map(APIKey.time) ?? "-" }
        let scope = [roles.joined(separator: ","), realm ?? "-", networks.map(\.text).joined(separator: ",")]
        return ([id, name] + scope.map { $0.isEmpty ? "-" : $0 } + times).joined(separator: "\t")
    }

    /// The names of the fields of `line`.
    package static let lineHeader = "id\tname\troles\trealm\tfrom\tcreated\texpires\tlast used"
}
