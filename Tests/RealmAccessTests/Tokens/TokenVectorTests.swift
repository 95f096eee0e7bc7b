// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmServerSupport
import RealmTestSupport
import Testing

/// What is said of the tokens of an independent library and of hostile ones.
@Suite struct TokenVectorTests {
    /// The issuers of the vectors, with their keys in files.
    private static func issuers(_ vectors: TokenVectors, _ folder: KeyFolder) throws -> [IssuerSettings] {
        func issuer(_ name: String, _ source: IssuerSettings.Source) -> IssuerSettings {
            var settings = IssuerSettings(issuer: name, audiences: ["realm-rest", "more"], source: source)
            settings.roles = ["user"]
            settings.rolesPath = "realm_access.roles"
            return settings
        }
        return [
            issuer("https://issuer.example/", .file(try folder.write("keys.json", vectors.jwks))),
            issuer("https://other.example/", .file(try folder.write("other.json", vectors.otherJwks))),
            issuer("https://secret.example/", .secretFile(try folder.write("secret", vectors.secret + "\n"))),
        ]
    }

    /// Checks what is said of each token, and that none is known that was refused.
    private func check(_ vectors: TokenVectors) throws {
        let folder = try KeyFolder()
        let clock = TestClock(vectors.now)
        let verifier = try TokenVerifier(try Self.issuers(vectors, folder)) { clock.now }
        #expect(vectors.cases.count > 250)
        for one in vectors.cases {
            let isGood = one.outcome == "verified"
            let before = isGood ? 0 : verifier.refusals(one.outcome)
            #expect(before >= 0, "there is no reason \(one.outcome)")
            #expect(isGood || verifier.known(one.token) == nil, "\(one.name)")
            let token = verifier.outcome(one.token)?.token
            #expect(token?.subject == one.subject, "\(one.name)")
            #expect(token?.roles == one.roles, "\(one.name)")
            #expect((verifier.known(one.token) != nil) == isGood, "\(one.name)")
            if !isGood { #expect(verifier.refusals(one.outcome) == before + 1, "\(one.name) is not refused as \(one.outcome)") }
        }
        #expect(verifier.numbers["tokens_verifying"] == 0 && verifier.numbers["tokens_waiting"] == 0)
        // Of the sixteen members of the set these can be used: rsa, ec, ed and one without a name.
        #expect(verifier.numbers["token_keys{issuer=\"https://issuer.example/\"}"] == 4)
    }

    @Test func `tokens of joserfc are verified, and hostile ones are refused each for its reason`() throws {
        try check(try TokenVectors.kept.get())
    }

    @Test(.enabled(if: TokenVectors.python != nil, "make setup-test installs joserfc"))
    func `so are tokens of new keys`() throws { try check(try TokenVectors.fresh()) }
}
