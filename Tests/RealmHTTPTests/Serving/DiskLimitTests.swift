// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// A server process whose files may not grow beyond a megabyte: what a full disk means to the real thing.
@Suite struct DiskLimitTests {
    private static let kilobytes = 1024

    /// The program that the tests were built with.
    private static let program: String? = {
        guard let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("realm-rest").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// A server over the folder of `realm`, and the port it says it listens on.
    private func start(_ program: String, _ realm: TemporaryRealm) throws -> (process: Process, port: Int) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The limit is in units of 512 bytes.
        process.arguments = [
            "-c", "ulimit -f \(DiskLimitTests.kilobytes * 2); exec \"$0\" serve \"$1\" --port 0 --log-format none", program,
            realm.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        let port = String(decoding: line, as: UTF8.self).split(separator: ":").last.flatMap { Int($0) }
        return (process, try #require(port))
    }

    @Test func `A26: a process that may not write more answers 507, leaves the file as it is, and goes on`() throws {
        let program = try #require(DiskLimitTests.program, "the program is not beside the tests")
        let realm = try TemporaryRealm()
        let database = try EngineRealm(
            path: realm.path,
            [ClassInput("Note", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("text", "string")])])
        try database.finish()
        let (process, port) = try start(program, realm)
        defer { if process.isRunning { process.terminate() } }
        func put(_ key: Int, _ byteCount: Int) throws -> HTTPClient.Answer {
            let body = #"{"text":""# + String(repeating: "x", count: byteCount) + #""}"#
            return try HTTPClient.request(
                port: port, "PUT", "/v1/realms/test/objects/Note/\(key)",
                headers: [("Content-Type", "application/json"), ("Prefer", "return=minimal")],
                body: Array(body.utf8))
        }
        let first = try put(1, 100)
        #expect(first.status == 201)
        for round in 0..<3 {
            let bytes = try realm.bytes
            let refused = try put(2, 3 << 20)
            #expect(refused.status == 507 && refused.code == "insufficient_storage", "\(refused.text)")
            #expect(try realm.bytes == bytes)
            #expect(try put(1, 200 + round).status == 204)
        }
        // Many small ones until no more fits; then room is made, and it goes on.
        var count = 0
        while count < 100, try put(10 + count, 40 << 10).status == 201 { count += 1 }
        #expect(count > 5 && count < 100)
        for key in [10, 11, 12] {
            _ = try HTTPClient.request(port: port, "DELETE", "/v1/realms/test/objects/Note/\(key)")
        }
        #expect(try put(1, 300).status == 204)
        #expect(process.isRunning)
        process.terminate()
        process.waitUntilExit()
        let left = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(left.verify().isClean && left.classTable(named: "Note")?.count ?? 0 >= count - 2)
    }
}
