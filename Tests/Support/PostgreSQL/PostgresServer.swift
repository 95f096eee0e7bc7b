// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A PostgreSQL of the test's own, on a socket in a temporary folder. It ends with this object, and with this process.
package final class PostgresServer: Sendable {
    /// The folder with the socket.
    package let folder: String
    private let process: Process
    package static let port = 5432

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Where the programs of the server are; nil when it is not installed.
    package static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }.sorted()
        let folder = versions.last.map { "\(root)/\($0)/bin" }
        guard let folder, FileManager.default.isExecutableFile(atPath: folder + "/initdb") else { return nil }
        return folder
    }()

    /// Whether tests can have a server; says once why not.
    package static let isPresent: Bool = {
        if binaries == nil {
            print("PostgreSQL is not installed, so the tests of the log in it are left out; `make setup-cluster` does")
        }
        return binaries != nil
    }()

    /// The server that tests share which leave it as it is.
    package static let shared = Result { try PostgresServer() }

    /// What libpq connects to.
    package var address: String { PostgresServer.address(folder) }
    package static func address(_ folder: String) -> String { "host=\(folder) port=\(port) user=realm dbname=postgres" }
    private var data: String { folder + "/data" }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - settings: Lines of its configuration.
    ///   - primary: The server that it is a standby of; nil for none.
    package init(_ settings: [String] = [], standbyOf primary: PostgresServer? = nil, named name: String = "") throws {
        guard let binaries = PostgresServer.binaries else { throw Failure(description: "PostgreSQL is not installed") }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rr-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if geteuid() == 0 { try PostgresServer.run(["chown", "postgres", folder]) }
        if let primary {
            try PostgresServer.run(
                PostgresServer.asUser + [
                    binaries + "/pg_basebackup", "-D", folder + "/data", "-R", "-X", "stream", "-c", "fast", "-d",
                    primary.address + " application_name=\(name)",
                ])
        } else {
            try PostgresServer.run(
                PostgresServer.asUser + [
                    binaries + "/initdb", "-D", folder + "/data", "-U", "realm", "-A", "trust", "-E", "UTF8", "--locale=C",
                ])
        }
        let options =
            [
                "listen_addresses=", "unix_socket_directories=\(folder)", "port=\(PostgresServer.port)", "max_connections=60",
                "shared_buffers=16MB", "max_wal_senders=8", "hot_standby=on", "log_min_messages=fatal",
            ] + settings
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The shell ends the server when this process is gone.
        let script = """
            "$@" & server=$!
            while kill -0 $OWNER && [ ! -e "$FOLDER/end" ]; do sleep 0.1; done
            kill -QUIT $server; wait $server; rm -rf "$FOLDER"
            """
        process.arguments =
            ["-c", script, "sh"] + PostgresServer.asUser + [binaries + "/postgres", "-D", folder + "/data"]
            + options.flatMap { ["-c", $0] }
        process.environment = ["FOLDER": folder, "OWNER": "\(getpid())", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let check = [binaries + "/pg_isready", "-q", "-h", folder, "-p", "\(PostgresServer.port)"]
        let isReady = eventually { (try? PostgresServer.run(check)) != nil }
        guard isReady else { throw Failure(description: "the server does not start") }
    }

    deinit { stop() }

    /// Ends the server at once, as a crash would.
    package func stop() {
        _ = FileManager.default.createFile(atPath: folder + "/end", contents: nil)
        process.waitUntilExit()
    }

    /// Makes a standby the primary.
    package func promote() throws {
        try PostgresServer.run(
            PostgresServer.asUser + [(PostgresServer.binaries ?? "") + "/pg_ctl", "promote", "-w", "-s", "-D", data])
    }

    /// The beginning of a command that the server's user runs; a server refuses to run as root.
    private static let asUser = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []

    private static func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "\(command) failed") }
    }
}
