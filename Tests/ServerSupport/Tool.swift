// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Programs of the system that tests run as clients.
package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Whether all programs that the tests of encryption need are there.
    package static let areThere = ["/usr/bin/openssl", "/usr/bin/curl", "/usr/bin/env"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The client in Python for what other clients do not do.
    package static let client =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("tls.py").path

    /// Runs a program to its end, two minutes at the most, and returns what it has printed, errors included.
    @discardableResult
    package static func run(_ arguments: [String], input: String = "", mayFail: Bool = false) throws -> String {
        let process = Process()
        let (output, feed) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        process.standardInput = feed
        try process.run()
        let watchdog = Watchdog(process, seconds: 120)
        try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        watchdog.stop()
        guard mayFail || process.terminationStatus == 0 else {
            throw Failure(description: "\(arguments.joined(separator: " ")): \(process.terminationStatus): \(text)")
        }
        return text
    }

    /// Shows the certificate that a server has for a name: its names and its subject.
    package static func certificate(port: Int, name: String?, more: [String] = []) throws -> String {
        let server = name.map { ["-servername", $0] } ?? ["-noservername"]
        let seen = try run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)"] + server + more, mayFail: true)
        guard let start = seen.range(of: "-----BEGIN"), let end = seen.range(of: "END CERTIFICATE-----\n") else { return seen }
        let text = String(seen[start.lowerBound..<end.upperBound])
        return try run(["openssl", "x509", "-noout", "-subject", "-serial", "-ext", "subjectAltName"], input: text)
    }

    /// Does a handshake, and shows protocol and cipher as the program reports them.
    package static func handshake(port: Int, _ more: [String]) throws -> String {
        let seen = try run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)"] + more, mayFail: true)
        return seen.split(separator: "\n").first { $0.contains("Cipher is") }.map(String.init) ?? seen
    }

    /// Sends a request with curl, certificates unchecked unless arguments say otherwise; the head is in the result.
    package static func curl(_ arguments: [String]) throws -> String {
        try run(["curl", "-sik", "--max-time", "60"] + arguments, mayFail: true)
    }

    /// Runs the client in Python.
    package static func python(port: Int, _ action: String, _ argument: String = "") throws -> String {
        try run(["python3", client, String(port), action, argument], mayFail: true)
    }
}
