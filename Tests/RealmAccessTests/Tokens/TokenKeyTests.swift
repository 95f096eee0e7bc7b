// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Which keys of a published set are used, and the tokens of RFC 7515.
@Suite struct TokenKeyTests {
    /// RFC 7515, A.2.
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOW"
        + "vG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5Zw"
        + "Kh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    /// RFC 7515, A.3.
    private static let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    private static let (rsaKey, ecKey) = (rsa(), ec(x, y))
    private static let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static func rsa(_ n: String = modulus, _ e: String = "AQAB") -> String { #"{"kty":"RSA","n":"\#(n)","e":"\#(e)"}"# }

    private static func ec(_ x: String, _ y: String, _ curve: String = "P-256") -> String {
        #"{"kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"}"#
    }

    private static func ed(_ x: String, _ curve: String = "Ed25519") -> String { #"{"kty":"OKP","crv":"\#(curve)","x":"\#(x)"}"# }

    /// An issuer with a set of keys, at the time of the RFC.
    private func verifier(_ keys: [String]) throws -> TokenVerifier {
        let path = try folder.write("keys.json", #"{"keys":[\#(keys.joined(separator: ","))]}"#)
        let clock = TestClock(1_300_819_000)
        let settings = IssuerSettings(issuer: "joe", audiences: ["realm-rest"], source: .file(path))
        return try TokenVerifier([settings]) { clock.now }
    }

    private let folder: KeyFolder

    init() throws { folder = try KeyFolder() }

    private static func base64(_ bytes: [UInt8]) -> String { Base64.encode(bytes, .url) }

    /// A modulus of some bits that is odd, or even.
    private static func number(bits: Int, last: UInt8 = 1) -> String {
        base64([1 << UInt8((bits - 1) % 8)] + [UInt8](repeating: 0x55, count: (bits + 7) / 8 - 2) + [last])
    }

    @Test(arguments: [
        rsa(number(bits: 2048)), rsa(number(bits: 8192)), rsa(number(bits: 4095)), rsa(modulus, "Aw"), rsa(modulus, "_____w"),
        rsa("AAAA" + modulus), rsa(modulus, "AAEAAQ"), ed("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
    ])
    func `a key of the right form and size is used`(_ key: String) throws {
        #expect(try verifier([Self.ecKey, key]).numbers["token_keys{issuer=\"joe\"}"] == 2)
    }

    @Test(arguments: [
        // Sizes of RSA.
        rsa(number(bits: 1024)), rsa(number(bits: 2047)), rsa(number(bits: 8193)), rsa(number(bits: 16384)),
        rsa(number(bits: 1 << 17)),
        rsa(number(bits: 2048, last: 0x54)), rsa(""), rsa("AAAA"), rsa(String(repeating: "A", count: 4000) + modulus),
        // Exponents.
        rsa(modulus, "AQ"), rsa(modulus, "AAAAAQ"), rsa(modulus, "Ag"), rsa(modulus, "AQAA"), rsa(modulus, ""),
        rsa(modulus, "AA"),
        rsa(modulus, "AQAAAAE"), rsa(modulus, String(repeating: "A", count: 16) + "AQAB"), rsa(modulus, modulus),
        // Texts that are not exactly base64 for URLs.
        rsa(modulus + "=="), rsa(modulus, "AQAB\\n"), rsa(modulus, " AQAB"), rsa(modulus.replacing("-", with: "+")),
        ec(x + "=", y),
        ec(x, y + "\\u0000"), ec(String(x.dropLast()) + "V", y), rsa(modulus, "Ax"),
        // Points.
        ec(y, x), ec(x, x), ec(base64([UInt8](repeating: 0, count: 32)), base64([UInt8](repeating: 0, count: 32))),
        ec("_____wAAAAEAAAAAAAAAAAAAAAD_______________8", "ZkhceA4vg9ckM71dhKBrtlQcKvMdrocXKL-FahdPk_Q"),
        ec(x, base64([UInt8](repeating: 1, count: 31))), ec("AAAA" + x, y), ec(x, "AAAA" + y), ec(x, ""), ec(x, y, "P-384"),
        ec(x, y, "secp256k1"), ec(x, y, "p-256"), ec(x, y, "Ed25519"), ed(x + "AAAA"), ed(""), ed(x, "Ed448"), ed(x, "X25519"),
        ed(x, "P-256"), ed(x.replacing("f83O", with: "f83")),
        // Members that are missing, or of another type.
        #"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#, #"{"kty":"RSA","n":"\#(modulus)"}"#, #"{"kty":"RSA","n":5,"e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":65537}"#, #"{"kty":"rsa","n":"\#(modulus)","e":"AQAB"}"#, #"{"crv":"P-256"}"#, "[]",
        "5",
    ])
    func `a key that is too short, too long, malformed or off its curve is left out`(_ key: String) throws {
        #expect(try verifier([Self.ecKey, key]).numbers["token_keys{issuer=\"joe\"}"] == 1)
        #expect(throws: TokenVerifier.Failure.self, "it is nothing to begin with") { try verifier([key]) }
    }

    private static let rsaToken =
        "eyJhbGciOiJSUzI1NiJ9.\(claims).cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG"
        + "bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--x"
        + "i12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    private static let ecToken =
        "eyJhbGciOiJFUzI1NiJ9.\(claims).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    /// They name no audience, and that is looked at when the signature was found to be right.
    @Test func `the signatures of RFC 7515 are right, and wrong with another bit`() throws {
        let verifier = try verifier([Self.rsaKey, Self.ecKey])
        for (count, token) in [Self.rsaToken, Self.ecToken].enumerated() {
            #expect(verifier.subject(token) == nil && verifier.refusals("audience") == Double(count + 1))
            let parts = token.split(separator: ".").map(String.init)
            var signature = try #require(Base64.decode(parts[2], .url))
            for index in signature.indices {
                signature[index] ^= 0x10
                #expect(verifier.subject("\(parts[0]).\(parts[1]).\(Self.base64(signature))") == nil)
                signature[index] ^= 0x10
            }
        }
        #expect(verifier.refusals("audience") == 2 && verifier.refusals("signature") == 256 + 64)
    }

    /// A public key in the place of a secret is no key, whatever text of it an attacker takes.
    @Test func `a token by HMAC is refused where keys are published`() throws {
        let verifier = try verifier([Self.rsaKey, Self.ecKey])
        let header = Self.base64(Array(#"{"alg":"HS256"}"#.utf8))
        #expect(verifier.subject("\(header).\(Self.claims).\(Self.base64([UInt8](repeating: 0, count: 32)))") == nil)
        #expect(verifier.refusals("algorithm") == 1)
    }
}
