// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MicroHTTP
package import RealmAccess
package import RealmPlatform
package import RealmTestSupport
internal import Synchronization

/// Tokens of an independent library, good and hostile, with what has to be said of each, and the keys of their issuers.
package final class TokenVectors: Sendable {
    /// One token.
    package struct Case: Sendable {
        package let name: String
        package let token: String
        /// `verified`, or the reason of the refusal.
        package let outcome: String
        package let subject: String?
        package let roles: [String]?
    }

    /// A set of keys, and tokens that were signed with one of them.
    package struct Turn: Sendable {
        package let jwks: String
        package let tokens: [String]
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let now: Int
    package let jwks: String
    package let otherJwks: String
    package let secret: String
    package let turns: [Turn]
    package let cases: [Case]

    private static let folder = Fixtures.packageRoot.appendingPathComponent("Tests/RealmAccessTests/Tokens/Vectors")

    /// The Python that can make new ones; nil where `make setup-test` could not install what it needs.
    package static let python: String? = {
        guard let python = S3Server.python else { return nil }
        let check = Process()
        check.executableURL = URL(fileURLWithPath: python)
        check.arguments = ["-c", "import joserfc, cryptography"]
        check.standardError = FileHandle.nullDevice
        guard (try? check.run()) != nil else { return nil }
        check.waitUntilExit()
        return check.terminationStatus == 0 ? python : nil
    }()

    package static func script(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Those that are kept with the tests.
    package static let kept = Result { try TokenVectors(Array(Data(contentsOf: folder.appendingPathComponent("tokens.json")))) }

    /// New ones, with new keys.
    package static func fresh() throws -> TokenVectors {
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
package func longKeySet(turn: Int) -> String {
    let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    let keys = (0..<100).map { #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"\#(turn)-\#($0)"}"# }
    return #"{"keys":[\#(keys.joined(separator: ","))]}"#
}

/// A folder with files of keys, which is removed with this object.
package final class KeyFolder {
    package let path = NSTemporaryDirectory() + "realm-rest-keys-\(UUID().uuidString)"

    package init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in one step, and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name), options: .atomic)
        return path + "/" + name
    }
}

/// A clock that tests move.
package final class TestClock: Sendable {
    private let seconds: Mutex<Double>

    package init(_ seconds: Int) { self.seconds = Mutex(Double(seconds)) }

    package func advance(_ by: Double) { seconds.withLock { $0 += by } }

    package var now: WallClock { WallClock(nanoseconds: Int64(seconds.withLock { $0 } * 1e9)) }
}

extension TokenVerifier {
    /// Verifies a token and waits for the outcome.
    package func outcome(_ token: String) -> TokenOutcome? {
        let monitor = Monitor<TokenOutcome?>(nil)
        verify(token) { outcome in monitor.broadcast { $0 = outcome } }
        return monitor.wait(until: Instant.now().adding(seconds: 60)) { $0 }
    }

    /// The subject of a good token; nil when it is refused.
    package func subject(_ token: String) -> String? { outcome(token)?.token?.subject }

    /// The metrics.
    package var numbers: ServerMetrics {
        var text = MetricsText()
        write(to: &text)
        return ServerMetrics(text.text)
    }

    package func refusals(_ reason: String) -> Double { numbers["tokens_refused_total{reason=\"\(reason)\"}"] ?? -1 }

    /// How many readings of the keys of an issuer came to a result.
    package func readings(_ result: String, of issuer: String = "https://issuer.example/") -> Double {
        numbers["token_key_readings_total{issuer=\"\(issuer)\",result=\"\(result)\"}"] ?? -1
    }
}
