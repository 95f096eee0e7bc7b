// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmTestSupport

/// The real server in a process of its own.
final class ServerProcess {
    let process: Process
    let port: Int
    private let output: Pipe

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The executable beside the tests; nil when it was not built.
    static let executable: String? = {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("realm-rest").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// Starts serving, and waits until the address is known.
    convenience init(_ arguments: [String]) throws {
        guard let executable = ServerProcess.executable else { throw Failure(description: "no executable") }
        try self.init(program: executable, ["serve", "--port", "0", "--log-format", "none"] + arguments)
    }

    /// Runs a command of a shell that ends with becoming the server.
    convenience init(command: String) throws { try self.init(program: "/bin/bash", ["-c", command]) }

    private init(program: String, _ arguments: [String]) throws {
        process = Process()
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").first, let port = Int(line.split(separator: ":").last ?? "") else {
            process.terminate()
            throw Failure(description: "the server does not say where it listens: \(text)")
        }
        self.port = port
    }

    deinit { if process.isRunning { kill() } }

    /// As a power cut is to it: `kill -9`.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends it a signal.
    func send(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

    /// Waits until it has ended by itself after SIGTERM; returns its status.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
