// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmStorage
import RealmTestSupport

@testable import RealmReplica

/// A PostgreSQL of the test's own, on a socket in a temporary folder. It ends with this object, and with this process.
final class PostgresServer: Sendable {
    /// The folder with the socket.
    let folder: String
    private let process: Process
    static let port = 5432

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Where the programs of the server are; nil when it is not installed.
    static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }.sorted()
        let folder = versions.last.map { "\(root)/\($0)/bin" }
        guard let folder, FileManager.default.isExecutableFile(atPath: folder + "/initdb") else { return nil }
        return folder
    }()

    /// Whether tests can have a server; says once why not.
    static let isPresent: Bool = {
        if binaries == nil {
            print("PostgreSQL is not installed, so the tests of the log in it are left out; `make setup-fleet` does")
        }
        return binaries != nil
    }()

    /// The server that tests share which leave it as it is.
    static let shared = Result { try PostgresServer() }

    /// What libpq connects to.
    var address: String { PostgresServer.address(folder) }
    static func address(_ folder: String) -> String { "host=\(folder) port=\(port) user=realm dbname=postgres" }
    private var data: String { folder + "/data" }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - settings: Lines of its configuration.
    ///   - primary: The server that it is a standby of; nil for none.
    init(_ settings: [String] = [], standbyOf primary: PostgresServer? = nil, named name: String = "") throws {
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
        let isReady = eventually { (try? PostgresConnection(to: address, until: .now().adding(seconds: 5))) != nil }
        guard isReady else { throw Failure(description: "the server does not start") }
    }

    deinit { stop() }

    /// Ends the server at once, as a crash would.
    func stop() {
        _ = FileManager.default.createFile(atPath: folder + "/end", contents: nil)
        process.waitUntilExit()
    }

    /// Makes a standby the primary.
    func promote() throws {
        try PostgresServer.run(
            PostgresServer.asUser + [(PostgresServer.binaries ?? "") + "/pg_ctl", "promote", "-w", "-s", "-D", data])
    }

    /// How much of the log of its primary, which is gone, a standby has, as a number that grows.
    func receivedPosition() throws -> UInt64 {
        // What was received is on its disk when nobody receives any more.
        guard try eventually({ try number("select count(*) from pg_stat_wal_receiver") == 0 }) else { return 0 }
        return try number("select (pg_last_wal_receive_lsn() - '0/0'::pg_lsn)::bigint")
    }

    private func number(_ statement: String) throws -> UInt64 {
        let connection = try PostgresConnection(to: address, until: .now().adding(seconds: 10))
        let answers = try connection.runTexts([statement], until: .now().adding(seconds: 10))
        return answers.first?.rows.first?.number(0) ?? 0
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

    /// Runs statements, each by itself.
    func execute(_ statements: String...) throws {
        for statement in statements {
            let connection = try PostgresConnection(to: address, until: .now().adding(seconds: 10))
            _ = try connection.runTexts([statement], until: .now().adding(seconds: 10))
        }
    }

    /// Makes a log with tables.
    func makeLog(_ address: String? = nil) throws -> PostgresLog {
        let log = PostgresLog(PostgresOptions(self.address))
        try log.prepare()
        guard let address else { return log }
        log.close()
        return PostgresLog(PostgresOptions(address))
    }
}
