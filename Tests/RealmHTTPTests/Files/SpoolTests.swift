// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Long bodies in files are bounded, in all and by client, and leave nothing behind.
@Suite struct SpoolTests {
    private let folder = NSTemporaryDirectory()

    private func room(_ change: (inout Limits) -> Void) -> SpoolRoom {
        var limits = Limits()
        limits.spool.reservedBytes = 0
        change(&limits)
        return SpoolRoom(limits.spool)
    }

    @Test func `a client has so many files, and all together`() throws {
        let room = room {
            $0.spool.files = 3
            $0.spool.filesPerClient = 2
        }
        var files = [try BodyFile(in: folder, try room.open(for: "a")), try BodyFile(in: folder, try room.open(for: "a"))]
        #expect(throws: StorageError.self) { try room.open(for: "a") }
        files.append(try BodyFile(in: folder, try room.open(for: "b")))
        #expect(throws: StorageError.self) { try room.open(for: "c") }
        #expect(room.files == 3)
        files = []
        #expect(room.files == 0)
        #expect(room.refused == 2)
        _ = try room.open(for: "c")
    }

    @Test func `bytes are counted and given back`() throws {
        let room = room {
            $0.spool.bytes = 1000
            $0.spool.bytesPerClient = 600
        }
        let piece = [UInt8](repeating: 1, count: 500)
        do {
            let first = try BodyFile(in: folder, try room.open(for: "a"))
            try first.append(piece)
            #expect(throws: StorageError.self) { try first.append(piece) }
            let second = try BodyFile(in: folder, try room.open(for: "b"))
            try second.append(piece)
            let third = try BodyFile(in: folder, try room.open(for: "c"))
            #expect(throws: StorageError.self) { try third.append(piece) }
            #expect(room.bytes == 1000)
        }
        #expect(room.bytes == 0)
    }

    @Test func `a disk that is nearly full takes none`() throws {
        // More than any disk has; a sixteenth of it is what stays free at the most.
        let room = room { $0.spool.reservedBytes = 1 << 48 }
        let file = try? BodyFile.make(inOneOf: ["/proc"], try room.open(for: "a"))
        #expect(file == nil)
    }

    @Test func `a spooled body has no name at any time`() throws {
        let own = folder + "realm-rest-spool-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: own) }
        let file = try BodyFile(in: own)
        try file.append([1, 2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
        #expect(try file.read(at: 1, byteCount: 10) == [2, 3])
    }

    @Test func `an import that finds no room is refused`() throws {
        let server = try WriteServer { $0.limits.spool.files = 0 }
        let line = "{\"_id\":1,\"name\":\"" + String(repeating: "x", count: 1000) + "\"}\n"
        let answer = try HTTPClient.request(
            port: server.server.daemon.socket.port, "POST", "/v1/realms/app/import?class=Dog",
            headers: [("Content-Type", "application/x-ndjson")], body: Array(String(repeating: line, count: 400).utf8))
        #expect(answer.status == 503)
        #expect(answer.code == "overloaded")
        #expect(answer["Retry-After"] != nil)
    }

    @Test func `what a short packed import becomes counts, too`() throws {
        let server = try WriteServer { $0.limits.spool.bytes = 1 << 20 }
        let lines = OutputBuffer(capacity: 4 << 20)
        let name = String(repeating: "x", count: 1000)
        for key in 0..<4000 { lines.append("{\"_id\":\(key),\"age\":1,\"name\":\"\(name)\"}\n") }
        let packed = try #require(Gzip.deflate(lines))
        #expect(packed.count < 100_000)
        let answer = try HTTPClient.request(
            port: server.server.daemon.socket.port, "POST", "/v1/realms/app/import?class=Dog",
            headers: [("Content-Type", "application/x-ndjson"), ("Content-Encoding", "gzip")], body: packed.array)
        #expect(answer.status == 503 && answer.code == "overloaded", "\(answer.status) \(answer.text)")
    }
}
