// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parts of a signed token (RFC 7515, compact form), before any of them is trusted.
///
/// Each token has exactly one text: base64 with padding or stray bits is refused, and so are doubled members. The sources of keys
/// in the header (`jku`, `x5u`, `x5c`, `jwk`) are not even read.
struct CompactToken {
    /// The algorithm that the header names.
    let algorithm: TokenAlgorithm
    /// The name of the key; nil when the header has none.
    let keyName: String?
    /// The claims of the token.
    let payload: JSONObject
    /// The approximate memory of `payload` in bytes.
    let payloadCost: Int
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// The limits for the JSON of a header: it has a handful of members.
    private static let headerBounds = JSONBounds(depth: 8, values: 256)
    /// The limits for the JSON of a payload. A list of groups may have hundreds.
    private static let payloadBounds = JSONBounds(depth: 32, values: 4096)

    /// Members of a header that change the meaning of a token. Their senders rely on them, so they are refused.
    private static let refusedMembers = ["crit", "b64", "enc", "zip"]
    /// Types that state that a token is for something other than access.
    private static let otherTypes: Set<ByteText> = ["jwe", "dpop+jwt", "secevent+jwt", "logout+jwt", "entity-statement+jwt"]
    /// Types of contents that state that there is a token inside of the token.
    private static let nestedTypes: Set<ByteText> = ["jwt", "jws", "jwe"]

    /// Parses text.
    ///
    /// - Parameter text: The text of the token; the caller has checked its length.
    /// - Throws: `malformed` for text that is no signed token or needs an unsupported feature, and `algorithm` for an algorithm
    ///   that is never used.
    init(_ text: String) throws(TokenRefusal) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = CompactToken.bytes(parts[0]), let body = CompactToken.bytes(parts[1]),
            let signature = CompactToken.bytes(parts[2])
        else { throw .malformed }
        let fields = try CompactToken.object(header, CompactToken.headerBounds).object
        (payload, payloadCost) = try CompactToken.object(body, CompactToken.payloadBounds)
        try CompactToken.check(fields)
        guard case .string(let name)? = fields.member(exactly: "alg") else { throw .malformed }
        guard let algorithm = TokenAlgorithm(name: name) else { throw .algorithm }
        self.algorithm = algorithm
        keyName = fields.member(exactly: "kid")?.string
        self.signature = signature
        signedBytes = Array(parts[0]) + [UInt8(ascii: ".")] + parts[1]
    }

    /// Decodes a part; nil for an empty one, and for everything but exact base64.
    private static func bytes(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        part.isEmpty ? nil : Base64.decode(Array(part), .url)
    }

    /// Reads a part as a JSON object, and estimates its memory.
    private static func object(_ bytes: [UInt8], _ bounds: JSONBounds) throws(TokenRefusal) -> (object: JSONObject, cost: Int) {
        var valueCount = 0
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONParser.parse(bytes, bounds) { count in
                valueCount = count
                return true
            }
        } catch {
            throw .malformed
        }
        guard let object = json.object else { throw .malformed }
        return (object, bytes.count + 128 * valueCount)
    }

    /// Refuses headers that make something else of the token.
    private static func check(_ header: JSONObject) throws(TokenRefusal) {
        guard refusedMembers.allSatisfy({ header.member(exactly: $0) == nil }) else { throw .malformed }
        for (name, types) in [("typ", otherTypes), ("cty", nestedTypes)] {
            guard let value = header.member(exactly: name) else { continue }
            guard var type = value.string?.lowercasedASCII else { throw .malformed }
            if let short = type.dropping(prefix: "application/") { type = String(short) }
            guard !types.contains(type) else { throw .malformed }
        }
        if let name = header.member(exactly: "kid"), name.string == nil { throw .malformed }
    }
}
