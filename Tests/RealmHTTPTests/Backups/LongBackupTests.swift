// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// A backup of a million objects, by the real server.
@Suite(
    "A backup of a million objects",
    .enabled(if: TestRun.isLong && S3Server.python != nil && ServerProcess.executable != nil, "only in long runs"))
struct LongBackupTests {
    private static let megabyte = 1 << 20

    /// Makes a file with a million objects of about 80 bytes each.
    private func makeRealm(at path: String) throws {
        let realm = try EngineRealm(
            path: path,
            [
                ClassInput(
                    "Item", primaryKey: "id",
                    [
                        PropertyInput("id", "int"), PropertyInput("name", "string"), PropertyInput("score", "double"),
                        PropertyInput("number", "int"), PropertyInput("other", "int"), PropertyInput("share", "double"),
                        PropertyInput("city", "string"),
                    ])
            ])
        for start in stride(from: 0, to: 1_000_000, by: 20_000) {
            try realm.write(waiting: 600) { session in
                var generator = SeededGenerator(seed: UInt64(start))
                for id in start..<start + 20_000 {
                    let numbers = (0..<6).map { _ in UInt64.random(in: 0...UInt64(Int64.max), using: &generator) }
                    _ = try session.create(
                        "Item",
                        [
                            "id": .integer(Int64(id)),
                            "name": .text(String(numbers[0], radix: 36) + String(numbers[1], radix: 36)),
                            "score": .real(Double(numbers[2])), "number": .integer(Int64(numbers[3])),
                            "other": .integer(Int64(numbers[4])), "share": .real(Double(numbers[5])),
                            "city": .text("city \(numbers[0] % 100)"),
                        ])
                }
            }
        }
        try realm.finish()
    }

    /// What a process uses of the memory, in bytes; without a name of the system what belongs to no file.
    private func bytes(of server: ServerProcess, _ name: String = "RssAnon") throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(server.process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return (line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0) * 1024
    }

    @Test(.timeLimit(.minutes(30)))
    func `A18: a million objects go to a bucket in parts, in little memory, and come back by their digest`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-million-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/app.realm"
        try makeRealm(at: path)
        let plain = try ServerProcess([path])
        #expect(try HTTPClient.request(port: plain.port, "GET", "/v1/realms/app/objects/Item?limit=1").status == 200)
        let usual = try bytes(of: plain)
        #expect(plain.stop() == 0)

        let store = try S3Server()
        let credentials = folder + "/credentials"
        try Data("aws_access_key_id=id\naws_secret_access_key=secret\n".utf8).write(to: URL(fileURLWithPath: credentials))
        let options = ["--backup-endpoint", "http://127.0.0.1:\(store.port)", "--backup-credentials", credentials]
        let server = try ServerProcess([path, "--backup-every", "1s", "--backup-to", "s3://\(S3Server.bucket)/m"] + options)
        func state() throws -> ParsedJSON { try HTTPClient.request(port: server.port, "GET", "/v1/realms/app/backups").json }
        let start = Date()
        var most = 0
        #expect(
            try eventually(seconds: 300) {
                most = max(most, try bytes(of: server))
                return try state()["state"]?.text == "ok"
            })
        let seconds = Date().timeIntervalSince(start)
        let backup = try #require(try state()["items"]?.elements?.first)
        let (id, byteCount) = (try #require(backup["id"]?.text), try #require(backup["bytes"]?.int))
        let peak = try bytes(of: server, "VmHWM")
        print(
            "backup of \(byteCount) bytes in \(seconds) s: anonymous memory at most \(most), before \(usual), peak with files \(peak)"
        )
        #expect(byteCount > 77_000_000)
        #expect(most - usual < 32 * LongBackupTests.megabyte, "\(most) and \(usual)")
        let parts = store.log().components(separatedBy: "partNumber=").count - 1
        #expect(parts == (Int(byteCount) + 8 * LongBackupTests.megabyte - 1) / (8 * LongBackupTests.megabyte))
        // The digest is that of the file, and so is what is sent to clients.
        let url = "/v1/realms/app/backups/\(id)"
        let digest = try #require(try HTTPClient.request(port: server.port, "GET", url).json["sha256"]?.text)
        let file = try HTTPClient.request(port: server.port, "GET", url, headers: [("Accept", "application/octet-stream")])
        #expect(try Base64.encode(FileDigest.sha256(file.body), .standard) == digest)
        #expect(server.stop() == 0)
        // The same file again, from nothing.
        try FileManager.default.removeItem(atPath: path)
        let command = CommandTests()
        #expect(try command.run(["restore", "s3://\(S3Server.bucket)/m", path] + options, seconds: 300).error == "")
        #expect(try Base64.encode(FileDigest.sha256([UInt8](Data(contentsOf: URL(fileURLWithPath: path)))), .standard) == digest)
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        #expect(snapshot.classTable(named: "Item")?.count == 1_000_000)
    }
}
