// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Keys that come from elsewhere: rotated, and from sources that are down, slow, huge, or wrong.
@Suite(.ownThread) struct KeySourceTests {
    private let vectors: TokenVectors
    private let clock: TestClock
    private let folder: KeyFolder

    init() throws {
        vectors = try TokenVectors.kept.get()
        clock = TestClock(vectors.now)
        folder = try KeyFolder()
    }

    /// Times that tests can wait for; keys are read because they are due, or because of an unknown key, never soon.
    private var calm: TokenTiming {
        var timing = TokenTiming()
        timing.lookSeconds = 0.01
        timing.firstPause = 30
        return timing
    }

    private func settings(port: Int, _ path: String = "/keys") throws -> IssuerSettings {
        let address = try #require(KeyAddress("http://127.0.0.1:\(port)\(path)"))
        return IssuerSettings(issuer: "https://issuer.example/", audiences: ["realm-rest"], source: .url(address))
    }

    private func verifier(port: Int, _ timing: TokenTiming, _ log: LogCapture = LogCapture()) throws -> TokenVerifier {
        try TokenVerifier([try settings(port: port)], timing: timing, logger: log.logger) { [clock] in clock.now }
    }

    /// A verifier that asks for unknown keys whenever it meets one.
    private func eagerVerifier(port: Int) throws -> TokenVerifier {
        var timing = calm
        timing.unknownKeyPause = 0
        return try verifier(port: port, timing)
    }

    private func document(_ turn: Int, _ fields: [HeaderField] = []) -> JWKSServer.Script {
        let text = vectors.turns[turn].jwks
        return { JWKSServer.document(text, fields) }
    }

    private var first: [String] { vectors.turns[0].tokens }
    private var second: [String] { vectors.turns[1].tokens }

    // MARK: - Rotation

    @Test func `a new key is found by its first token, and keys that are gone stop at once, known tokens too`() throws {
        let server = try JWKSServer(document(0))
        defer { server.stop() }
        let verifier = try eagerVerifier(port: server.port)
        #expect(verifier.subject(first[0]) == "first-0", "the first token waits for the keys")
        #expect(verifier.known(first[0]) != nil)
        #expect(verifier.subject(second[0]) == nil && verifier.refusals("key") == 1)
        server.answer(document(1))
        #expect(verifier.known(first[0]) != nil, "nobody knows yet")
        #expect(verifier.subject(second[1]) == "second-1")
        #expect(verifier.known(first[0]) == nil)
        #expect(verifier.subject(first[0]) == nil && verifier.subject(first[1]) == nil)
        #expect(verifier.known(second[1]) != nil)
        #expect(Set(server.targets) == ["/keys"])
    }

    @Test func `keys are read again before they become too old, without a token that asks`() throws {
        let server = try JWKSServer(document(0, [HeaderField("Cache-Control", "public, max-age=0")]))
        defer { server.stop() }
        var timing = calm
        timing.ages = 0.1...3600
        let verifier = try verifier(port: server.port, timing)
        #expect(verifier.subject(first[0]) == "first-0")
        server.answer(document(1, [HeaderField("Cache-Control", "max-age=3600")]))
        #expect(eventually(seconds: 20) { verifier.known(first[0]) == nil })
        let count = server.targets.count
        Threads.sleep(seconds: 0.4)
        #expect(server.targets.count == count, "an hour has not passed")
        #expect(verifier.subject(second[0]) == "second-0")
    }

    @Test func `unknown keys cause one reading in thirty seconds, however many tokens have them`() throws {
        let server = try JWKSServer(document(0))
        defer { server.stop() }
        let verifier = try verifier(port: server.port, calm)
        #expect(verifier.subject(first[0]) == "first-0")
        for token in second { #expect(verifier.subject(token) == nil) }
        let hostile = vectors.cases.filter { $0.name.hasPrefix("kid ") }
        #expect(hostile.count > 20)
        for one in hostile { #expect(verifier.subject(one.token) == nil) }
        #expect(server.targets.count == 1)
    }

    @Test func `tokens with unknown keys join the reading that runs, up to 64 of them, and others do not wait`() throws {
        let server = try JWKSServer(document(0))
        defer { server.stop() }
        var timing = calm
        timing.unknownKeyPause = 0.2
        let verifier = try verifier(port: server.port, timing)
        #expect(verifier.subject(first[0]) == "first-0")
        Threads.sleep(seconds: 0.25)
        let text = vectors.turns[1].jwks
        let gate = Mutex(false)
        server.answer {
            _ = eventually(seconds: 1.5) { gate.withLock { $0 } }
            return JWKSServer.document(text)
        }
        let ends = Monitor([0, 0])
        for index in 0..<100 {
            verifier.verify(second[index % 16]) { outcome in
                ends.broadcast { $0[outcome.token == nil ? 1 : 0] += 1 }
            }
        }
        // Those that find no place to wait are refused at once.
        #expect(ends.wait(until: Instant.now().adding(seconds: 30)) { $0[1] == 36 ? true : nil } == true)
        #expect(verifier.numbers["tokens_waiting"] == 64 && verifier.numbers["tokens_verifying"] == 0)
        #expect(verifier.subject(first[1]) == "first-1")
        gate.withLock { $0 = true }
        #expect(ends.wait(until: Instant.now().adding(seconds: 30)) { $0[0] == 64 ? true : nil } == true)
        #expect(server.targets.count == 2)
        #expect(verifier.numbers["tokens_waiting"] == 0 && verifier.numbers["tokens_verifying"] == 0)
    }

    // MARK: - Sources that do not work

    @Test func `while the source is down the keys stay, and when it is back they are read`() throws {
        let server = try JWKSServer(document(0))
        var timing = calm
        timing.unknownKeyPause = 0
        let log = LogCapture()
        let verifier = try verifier(port: server.port, timing, log)
        #expect(verifier.subject(first[0]) == "first-0")
        server.stop()
        #expect(verifier.subject(second[0]) == nil)
        #expect(verifier.subject(second[1]) == nil)
        #expect(verifier.known(first[0]) != nil && verifier.subject(first[1]) == "first-1")
        #expect(verifier.readings("failed") == 2 && verifier.readings("read") == 1)
        #expect(log.lines.count == 1, "it is told of once: \(log.lines)")
        let again = try JWKSServer(port: server.port, document(1))
        defer { again.stop() }
        #expect(verifier.subject(second[2]) == "second-2")
        #expect(log.lines.count == 2 && log.lines.last?.hasPrefix("notice") == true)
    }

    @Test func `a source that is down at the start is tried again`() throws {
        let port = try TestSocket.freePort()
        var timing = calm
        timing.firstPause = 0.05
        timing.longestPause = 0.2
        let verifier = try verifier(port: port, timing)
        #expect(verifier.subject(first[0]) == nil)
        #expect(eventually { verifier.readings("failed") >= 3 })
        #expect(verifier.subject(first[0]) == nil && verifier.refusals("no_keys") == 2)
        let server = try JWKSServer(port: port, document(0))
        defer { server.stop() }
        #expect(eventually { verifier.readings("read") == 1 })
        #expect(verifier.subject(first[0]) == "first-0")
    }

    @Test func `a document that cannot be used changes nothing`() throws {
        let server = try JWKSServer(document(0))
        defer { server.stop() }
        let verifier = try eagerVerifier(port: server.port)
        #expect(verifier.subject(first[0]) == "first-0")
        let good = vectors.turns[1].jwks
        let key = good.dropFirst(#"{"keys": ["#.count).dropLast(2)
        let many = #"{"keys": ["# + Array(repeating: String(key), count: 101).joined(separator: ",") + "]}"
        let texts = [
            "", "{", "<html></html>", "[]", "null", "{}", "{\"keys\": {}}", "{\"keys\": [{}]}",
            "{\"keys\": [\(key)], \"keys\": []}",
            good + "x", String(good.dropLast()), many, "{\"keys\": [{\"kty\": \"RSA\", \"n\": \"AQAB\", \"e\": \"AQAB\"}]}",
            good.replacingOccurrences(of: "\"P-256\"", with: "\"P-384\""), String(repeating: "[", count: 10_000),
            // What is too long is not read to its end.
            good + String(repeating: " ", count: 2 << 20),
        ]
        for (index, text) in texts.enumerated() {
            server.answer { JWKSServer.document(text) }
            #expect(verifier.subject(second[index % 16]) == nil, "\(text.prefix(100))")
            #expect(verifier.readings("failed") == Double(index + 1), "\(text.prefix(100))")
            #expect(verifier.known(first[0]) != nil)
        }
        #expect(verifier.subject(first[1]) == "first-1")
        server.answer { JWKSServer.document(good + String(repeating: " ", count: 1000 << 10)) }
        #expect(verifier.subject(second[0]) == "second-0", "a document of less than 1 MiB is taken")
        server.answer { JWKSServer.document("{\"keys\": []}") }
        #expect(verifier.subject(first[0]) == nil, "it asks for the keys")
        #expect(verifier.known(second[0]) == nil && verifier.subject(second[0]) == nil, "all keys were withdrawn")
    }

    @Test(arguments: [201, 204, 301, 302, 303, 304, 307, 308, 400, 401, 404, 500, 503])
    func `only an answer of status 200 counts, and redirects are not followed`(_ status: Int) throws {
        let server = try JWKSServer(document(0))
        defer { server.stop() }
        let verifier = try eagerVerifier(port: server.port)
        #expect(verifier.subject(first[0]) == "first-0")
        // The first token may ask for the keys although they are just being read.
        let asked = server.targets.count
        let text = vectors.turns[1].jwks
        server.answer {
            let fields = [HeaderField("Location", "/elsewhere")]
            return status == 204 || status == 304
                ? Response(status: status, headers: fields) : JWKSServer.document(text, fields, status: status)
        }
        #expect(verifier.subject(second[0]) == nil)
        #expect(verifier.readings("failed") == 1 && verifier.known(first[0]) != nil)
        #expect(server.targets == Array(repeating: "/keys", count: asked + 1))
    }

    @Test func `a source that is slow delays its own tokens, up to a limit, and no others`() throws {
        let text = vectors.turns[0].jwks
        let server = try JWKSServer {
            Threads.sleep(seconds: 4)
            return JWKSServer.document(text)
        }
        defer { server.stop() }
        var timing = calm
        timing.answerSeconds = 1
        let secret = IssuerSettings(
            issuer: "https://secret.example/", audiences: ["realm-rest"],
            source: .secretFile(try folder.write("secret", vectors.secret)))
        let verifier = try TokenVerifier([try settings(port: server.port), secret], timing: timing) { [clock] in clock.now }
        let start = Instant.now()
        let end = Monitor<TokenOutcome?>(nil)
        verifier.verify(first[0]) { outcome in end.broadcast { $0 = outcome } }
        let other = try #require(vectors.cases.first { $0.name == "HS256" })
        #expect(verifier.subject(other.token) == "ann")
        #expect(Instant.now().seconds(since: start) < 0.9)
        let outcome = end.wait(until: start.adding(seconds: 30)) { $0 }
        #expect(outcome != nil && outcome?.token == nil)
        #expect((0.9...3.5).contains(Instant.now().seconds(since: start)))
        #expect(verifier.refusals("no_keys") == 1)
    }

    @Test func `a reload keeps the keys of an address that is down`() throws {
        let server = try JWKSServer(document(0))
        let verifier = try verifier(port: server.port, calm)
        #expect(verifier.subject(first[0]) == "first-0")
        server.stop()
        var same = try settings(port: server.port)
        same.roles = ["clerk"]
        try verifier.replace(with: [same])
        #expect(verifier.known(first[0]) == nil && verifier.outcome(first[0])?.token?.roles == ["clerk"])
        try verifier.replace(with: [try settings(port: server.port, "/other")])
        #expect(verifier.subject(first[0]) == nil, "another address may have other keys")
    }

    @Test func `a verifier that nobody holds any more ends its threads`() throws {
        let server = try JWKSServer(document(0, [HeaderField("Cache-Control", "no-store")]))
        defer { server.stop() }
        var timing = calm
        timing.ages = 0.02...3600
        var verifier: TokenVerifier? = try verifier(port: server.port, timing)
        #expect(verifier?.subject(first[0]) == "first-0")
        #expect(eventually { server.targets.count > 2 })
        weak let gone = verifier
        verifier = nil
        #expect(eventually { gone == nil })
        Threads.sleep(seconds: 0.2)
        let count = server.targets.count
        Threads.sleep(seconds: 0.4)
        #expect(server.targets.count == count)
    }

    // MARK: - Files

    @Test func `a file is read again when it has changed, and what cannot be used changes nothing`() throws {
        let path = try folder.write("turn.json", vectors.turns[0].jwks)
        let settings = IssuerSettings(issuer: "https://issuer.example/", audiences: ["realm-rest"], source: .file(path))
        var timing = calm
        timing.firstPause = 0.05
        let verifier = try TokenVerifier([settings], timing: timing) { [clock] in clock.now }
        #expect(verifier.subject(first[0]) == "first-0")
        try folder.write("turn.json", "{}")
        #expect(eventually { verifier.readings("failed") >= 1 })
        #expect(verifier.known(first[0]) != nil)
        try FileManager.default.removeItem(atPath: path)
        let failures = verifier.readings("failed")
        #expect(eventually { verifier.readings("failed") > failures })
        #expect(verifier.known(first[0]) != nil && verifier.subject(first[1]) == "first-1")
        try folder.write("turn.json", vectors.turns[1].jwks)
        #expect(eventually { verifier.known(first[0]) == nil }, "its key is gone")
        #expect(verifier.subject(second[0]) == "second-0" && verifier.subject(first[1]) == nil)
    }

    @Test(arguments: 1...4) func `a stop ends the readings that run, waits for them, and lets none begin`(_ turn: Int) throws {
        let path = try folder.write("keys.json", longKeySet(turn: 0))
        let names = (0..<16).map { "issuer \($0)" }
        let issuers = names.map { IssuerSettings(issuer: $0, audiences: ["realm-rest"], source: .file(path)) }
        let verifier = try TokenVerifier(issuers, timing: calm)
        func readings() -> Double {
            let numbers = verifier.numbers
            return names.flatMap { name in
                ["read", "failed"].map { numbers["token_key_readings_total{issuer=\"\(name)\",result=\"\($0)\"}"] ?? -100 }
            }.reduce(0, +)
        }
        #expect(readings() == 16)
        try folder.write("keys.json", longKeySet(turn: turn))
        #expect(eventually(longestPause: 0.005) { readings() > 16 })
        let begin = Instant.now()
        verifier.stop()
        // A look begins the readings of all issuers, and those that come too late have failed. A busy machine may not end them in time.
        #expect(readings() == 32 || Instant.now().seconds(since: begin) >= 0.3)
        #expect(eventually { readings() == 32 })
        let error = #expect(throws: TokenVerifier.Failure.self) { try verifier.replace(with: issuers) }
        #expect(error?.description.contains("the work was cancelled") == true, "\(error?.description ?? "")")
        #expect(readings() == 32)
    }

    // MARK: - HTTPS

    @Test(.enabled(if: TokenVectors.python != nil, "make setup-test installs cryptography"))
    func `an address with https needs a certificate of an authority that is trusted`() throws {
        try folder.write("keys.json", vectors.turns[0].jwks)
        let process = Process()
        let lifeline = Pipe()
        process.executableURL = URL(fileURLWithPath: TokenVectors.python ?? "")
        process.arguments = [TokenVectors.script("keyserver.py"), folder.path]
        process.standardInput = lifeline
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            // Its end is not waited for: Foundation may miss it on a thread that tests share.
            kill(process.processIdentifier, SIGKILL)
        }
        #expect(eventually { FileManager.default.fileExists(atPath: folder.path + "/port") })
        let port = try String(contentsOfFile: folder.path + "/port", encoding: .utf8)
        let address = try #require(KeyAddress("https://127.0.0.1:\(port)/keys.json"))
        var settings = IssuerSettings(issuer: "https://issuer.example/", audiences: ["realm-rest"], source: .url(address))
        let stranger = try TokenVerifier([settings], timing: calm) { [clock] in clock.now }
        #expect(stranger.subject(first[0]) == nil && stranger.readings("failed") == 1)
        settings.certificateAuthority = folder.path + "/ca.pem"
        let verifier = try TokenVerifier([settings], timing: calm) { [clock] in clock.now }
        #expect(verifier.subject(first[0]) == "first-0")
        settings.certificateAuthority = try folder.write("no.pem", "no certificate")
        #expect(throws: TokenVerifier.Failure.self) { try TokenVerifier([settings]) }
    }
}
