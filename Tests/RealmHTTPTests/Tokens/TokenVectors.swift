// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// Tokens of an independent library, good and hostile, with what has to be said of each, and the keys of their issuers.
final class TokenVectors: Sendable {
    /// One token.
    struct Case: Sendable {
        let name: String
        let token: String
        /// `verified`, or the reason of the refusal.
        let outcome: String
        let subject: String?
        let roles: [String]?
    }

    /// A set of keys, and tokens that were signed with one of them.
    struct Turn: Sendable {
        let jwks: String
        let tokens: [String]
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let now: Int
    let jwks: String
    let otherJwks: String
    let secret: String
    let turns: [Turn]
    let cases: [Case]

    private static let folder = Fixtures.packageRoot.appendingPathComponent("Tests/RealmHTTPTests/Tokens/Vectors")

    /// The Python that can make new ones; nil where `make setup-test` could not install what it needs.
    static let python: String? = {
        guard let python = S3Server.python else { return nil }
        let check = Process()
        check.executableURL = URL(fileURLWithPath: python)
        check.arguments = ["-c", "import joserfc, cryptography"]
        check.standardError = FileHandle.nullDevice
        guard (try? check.run()) != nil else { return nil }
        check.waitUntilExit()
        return check.terminationStatus == 0 ? python : nil
    }()

    static func script(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Those that are kept with the tests.
    static let kept = Result { try TokenVectors(Array(Data(contentsOf: folder.appendingPathComponent("tokens.json")))) }

    /// New ones, with new keys.
    static func fresh() throws -> TokenVectors {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: python ?? "")
        process.arguments = [script("tokens.py")]
        process.standardOutput = output
        try process.run()
        let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "tokens.py has failed") }
        return try TokenVectors(bytes)
    }

    private init(_ bytes: [UInt8]) throws {
        let json = try ParsedJSON(parsing: bytes)
        guard let now = json["now"]?.int, let jwks = json["jwks"]?.text, let otherJwks = json["otherJwks"]?.text,
            let secret = json["secret"]?.text, let turns = json["turns"]?.elements, let cases = json["cases"]?.elements
        else { throw Failure(description: "these are no tokens") }
        (self.now, self.jwks, self.otherJwks, self.secret) = (now, jwks, otherJwks, secret)
        self.turns = turns.map { Turn(jwks: $0["jwks"]?.text ?? "", tokens: $0["tokens"]?.texts ?? []) }
        self.cases = cases.map { one in
            Case(
                name: one["name"]?.text ?? "", token: one["token"]?.text ?? "", outcome: one["outcome"]?.text ?? "",
                subject: one["subject"]?.text, roles: one["roles"]?.texts)
        }
    }
}

/// A document with as many keys as it may have, on P-256, which takes long to read. They are other keys in each turn.
func longKeySet(turn: Int) -> String {
    let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    let keys = (0..<100).map { #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"\#(turn)-\#($0)"}"# }
    return #"{"keys":[\#(keys.joined(separator: ","))]}"#
}

/// A folder with files of keys, which is removed with this object.
final class KeyFolder {
    let path = NSTemporaryDirectory() + "realm-rest-keys-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in one step, and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name), options: .atomic)
        return path + "/" + name
    }
}

/// A clock that tests move.
final class TestClock: Sendable {
    private let seconds: Mutex<Double>

    init(_ seconds: Int) { self.seconds = Mutex(Double(seconds)) }

    func advance(_ by: Double) { seconds.withLock { $0 += by } }

    var now: WallClock { WallClock(nanoseconds: Int64(seconds.withLock { $0 } * 1e9)) }
}

extension TokenVerifier {
    /// Verifies a token and waits for the outcome.
    func outcome(_ token: String) -> TokenOutcome? {
        let monitor = Monitor<TokenOutcome?>(nil)
        verify(token) { outcome in monitor.broadcast { $0 = outcome } }
        return monitor.wait(until: Instant.now().adding(seconds: 60)) { $0 }
    }

    /// The subject of a good token; nil when it is refused.
    func subject(_ token: String) -> String? { outcome(token)?.token?.subject }

    /// The metrics.
    var numbers: ServerMetrics {
        var text = MetricsText()
        write(to: &text)
        return ServerMetrics(text.text)
    }

    func refusals(_ reason: String) -> Double { numbers["tokens_refused_total{reason=\"\(reason)\"}"] ?? -1 }

    /// How many readings of the keys of an issuer came to a result.
    func readings(_ result: String, of issuer: String = "https://issuer.example/") -> Double {
        numbers["token_key_readings_total{issuer=\"\(issuer)\",result=\"\(result)\"}"] ?? -1
    }
}
