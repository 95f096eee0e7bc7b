// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Which tokens are known, for how long, and how many are looked at.
@Suite struct TokenVerifierTests {
    private let vectors: TokenVectors
    private let folder: KeyFolder
    private let clock: TestClock

    init() throws {
        vectors = try TokenVectors.kept.get()
        folder = try KeyFolder()
        clock = TestClock(vectors.now)
    }

    private func issuer(_ roles: [String] = []) throws -> IssuerSettings {
        let path = try folder.write("turn.json", vectors.turns[0].jwks)
        var settings = IssuerSettings(issuer: "https://issuer.example/", audiences: ["realm-rest"], source: .file(path))
        settings.roles = roles
        return settings
    }

    private func secretIssuer(_ secret: String) throws -> IssuerSettings {
        let path = try folder.write("secret", secret)
        return IssuerSettings(issuer: "https://secret.example/", audiences: ["realm-rest"], source: .secretFile(path))
    }

    private func verifier(_ limits: Limits = Limits()) throws -> TokenVerifier {
        try TokenVerifier([try issuer()], limits: LiveLimits(limits)) { [clock] in clock.now }
    }

    private func token(_ name: String) throws -> String { try #require(vectors.cases.first { $0.name == name }).token }

    @Test func `a token that was verified is known until it has expired, with the skew`() throws {
        let path = try folder.write("all.json", vectors.jwks)
        let settings = IssuerSettings(issuer: "https://issuer.example/", audiences: ["realm-rest"], source: .file(path))
        let verifier = try TokenVerifier([settings]) { [clock] in clock.now }
        let token = try token("RS256")
        #expect(verifier.known(token) == nil)
        let verified = try #require(verifier.outcome(token)?.token)
        #expect(verified.issuer == "https://issuer.example/" && verified.roles.isEmpty)
        #expect(verified.claims["iat"] == .integer(Int64(vectors.now)))
        #expect(verified.expiresAt.nanoseconds == Int64(vectors.now + 600) * 1_000_000_000)
        #expect(verified.acceptedUntil.nanoseconds == Int64(vectors.now + 660) * 1_000_000_000)
        #expect(verifier.known(token)?.subject == "ann")
        #expect(verifier.known(token + "=") == nil && verifier.known(" " + token) == nil)
        clock.advance(659)
        #expect(verifier.known(token) != nil && verifier.subject(token) == "ann")
        clock.advance(1)
        #expect(verifier.known(token) == nil)
        #expect(verifier.subject(token) == nil && verifier.refusals("expired") == 1)
        #expect(verifier.numbers["token_cache_entries"] == 0)
    }

    @Test func `the memory for known tokens is bounded, and those that are used stay`() throws {
        var limits = Limits()
        limits.tokenCacheBytes = 16 << 10
        let verifier = try verifier(limits)
        let tokens = vectors.turns[0].tokens
        #expect(verifier.subject(tokens[0]) == "first-0")
        for token in tokens.dropFirst() {
            #expect(verifier.subject(token) != nil)
            #expect(verifier.known(tokens[0]) != nil, "one that is in use was dropped")
            #expect(verifier.numbers["token_cache_bytes"] ?? .infinity <= 16_384)
        }
        let count = verifier.numbers["token_cache_entries"] ?? 0
        #expect(count > 2 && count < 16)
        #expect(verifier.known(tokens[1]) == nil && verifier.known(tokens[15]) != nil)
    }

    @Test func `without memory for known tokens each is verified anew`() throws {
        var limits = Limits()
        limits.tokenCacheBytes = 0
        let verifier = try verifier(limits)
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == "first-0")
        #expect(verifier.known(vectors.turns[0].tokens[0]) == nil)
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == "first-0")
    }

    @Test func `too many tokens at a time are turned away, and each is answered once`() throws {
        var limits = Limits()
        limits.tokenVerifications = 1
        let verifier = try verifier(limits)
        let ends = Monitor([0, 0, 0])
        for index in 0..<400 {
            verifier.verify(vectors.turns[index % 2].tokens[index % 16]) { outcome in
                ends.broadcast { counts in
                    switch outcome {
                    case .verified: counts[0] += 1
                    case .refused: counts[1] += 1
                    case .overloaded: counts[2] += 1
                    }
                }
            }
        }
        let counts = ends.wait(until: Instant.now().adding(seconds: 60)) { $0.reduce(0, +) >= 400 ? $0 : nil }
        #expect(counts?.reduce(0, +) == 400)
        #expect(counts?[2] ?? 0 > 0 && Double(counts?[2] ?? -1) == verifier.refusals("overloaded"))
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == "first-0")
        #expect(verifier.numbers["tokens_verifying"] == 0)
    }

    @Test func `a limit of bytes that is changed holds at once`() throws {
        var limits = Limits()
        limits.tokenBytes = 256
        let verifier = try verifier(limits)
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == nil && verifier.refusals("too_long") == 1)
    }

    // MARK: - Issuers that are replaced

    @Test func `other roles, and other issuers, are in force at once`() throws {
        let verifier = try verifier()
        let tokens = vectors.turns[0].tokens
        #expect(verifier.outcome(tokens[0])?.token?.roles == [])
        try verifier.replace(with: [try issuer(["clerk"])])
        #expect(verifier.known(tokens[0]) == nil)
        #expect(verifier.outcome(tokens[0])?.token?.roles == ["clerk"])
        try verifier.replace(with: [])
        #expect(verifier.known(tokens[0]) == nil && verifier.subject(tokens[0]) == nil && verifier.refusals("issuer") == 1)
    }

    @Test func `a secret that was replaced in its file counts from the next reload on`() throws {
        let verifier = try TokenVerifier([try secretIssuer(vectors.secret)]) { [clock] in clock.now }
        let token = try token("HS256")
        #expect(verifier.subject(token) == "ann")
        let other = try secretIssuer(String(repeating: "x", count: 32))
        #expect(verifier.known(token) != nil)
        try verifier.replace(with: [other])
        #expect(verifier.known(token) == nil && verifier.subject(token) == nil && verifier.refusals("signature") == 1)
    }

    @Test func `a file that cannot be used stops the start, and changes nothing later`() throws {
        let verifier = try verifier()
        let path = folder.path + "/missing"
        let short = String(repeating: "x", count: 31) + "\n"
        let bad: [(IssuerSettings, String)] = [
            (try secretIssuer(short), "the secret in '\(folder.path)/secret' has 31 bytes; at least 32 are needed"),
            (IssuerSettings(issuer: "a", audiences: ["b"], source: .secretFile(path)), "'\(path)' cannot be read"),
            (IssuerSettings(issuer: "a", audiences: ["b"], source: .file(path)), "'\(path)' cannot be read"),
            (IssuerSettings(issuer: "a", audiences: ["b"], source: .file(folder.path)), "'\(folder.path)' cannot be read"),
            (
                IssuerSettings(issuer: "a", audiences: ["b"], source: .file(try folder.write("no", "{\"keys\":[{}]}"))),
                "none of its keys can be used"
            ),
        ]
        for (settings, reason) in bad {
            let error = #expect(throws: TokenVerifier.Failure.self) { try TokenVerifier([settings]) }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
            #expect(throws: TokenVerifier.Failure.self) { try verifier.replace(with: [settings]) }
        }
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == "first-0")
    }
}
