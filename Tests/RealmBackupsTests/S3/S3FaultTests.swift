// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What a store of backups does when its server fails, and what it leaves there.
@Suite struct S3FaultTests {
    private let name = BackupName(realm: RealmName("app")!, time: WallClock(nanoseconds: 1_780_272_000_000_000_000), version: 1)
    private let key = "/bucket/files/app/20260601T000000Z-1.realm"

    private func put(_ byteCount: Int, in store: S3BackupStore, _ control: WorkControl? = nil) throws {
        _ = try store.put(name, unlessLike: nil, control) { backend throws(StorageError) in
            try backend.extend(to: byteCount)
        }
    }

    /// The text of the error that a closure throws, and how long it took.
    private func failure(_ body: () throws -> Void) -> (text: String, seconds: Double) {
        let start = Date()
        do {
            try body()
            return ("", Date().timeIntervalSince(start))
        } catch {
            return ("\(error)", Date().timeIntervalSince(start))
        }
    }

    @Test(arguments: [500, 503, 429]) func `a failure that may pass is tried again after a pause`(_ status: Int) throws {
        try FaultyS3.run { _, earlier in
            earlier < 2 ? FaultyS3.error(status, "SlowDown") : FaultyS3.answer()
        } _: { server, store in
            let (text, seconds) = failure { try put(1000, in: store) }
            #expect(text == "" && server.lines == Array(repeating: "PUT \(key)", count: 3))
            #expect((1.2..<15).contains(seconds), "\(seconds)")
        }
    }

    @Test func `after four attempts it is over, and the store is quoted`() throws {
        try FaultyS3.run { _, _ in
            FaultyS3.error(503, "SlowDown")
        } _: { server, store in
            let (text, seconds) = failure { try put(1000, in: store) }
            #expect(text.contains("answered 503 SlowDown: said so") && !text.contains("hunter2"), "\(text)")
            #expect(server.lines.count == 4 && (3.2..<20).contains(seconds), "\(seconds)")
        }
    }

    @Test func `a refusal is not tried again`() throws {
        try FaultyS3.run { _, _ in
            FaultyS3.error(400, "InvalidRequest")
        } _: { server, store in
            let (text, _) = failure { try put(1000, in: store) }
            #expect(text.contains("answered 400 InvalidRequest") && server.lines.count == 1, "\(text)")
        }
    }

    @Test func `a pause ends at once when the backup is cancelled`() throws {
        try FaultyS3.run { _, _ in
            FaultyS3.error(503, "SlowDown")
        } _: { server, store in
            let control = WorkControl()
            Thread.detachNewThread {
                _ = eventually { server.lines.count >= 3 }
                control.cancel()
            }
            #expect(throws: WorkControl.stopped) { try put(1000, in: store, control) }
            #expect(server.lines.count == 3)
        }
    }

    /// The answers to an upload in parts: those in `answers` for lines that begin with their names.
    private func upload(
        _ answers: [(line: String, answer: @Sendable (Int) -> Response)], _ body: (FaultyS3, S3BackupStore) throws -> Void
    ) throws {
        try FaultyS3.run(
            { [key] line, earlier in
                if let own = answers.first(where: { line.hasPrefix($0.line) }) { return own.answer(earlier) }
                switch line {
                case "POST \(key)?uploads=": return FaultyS3.answer(200, "<R><UploadId>u1</UploadId></R>")
                case "POST \(key)?uploadId=u1": return FaultyS3.answer(200, "<R/>")
                default: return FaultyS3.answer(200, "", [HeaderField("ETag", "\"t\"")])
                }
            }, body)
    }

    @Test func `an upload in parts that fails is given up, and a part that fails once is sent again`() throws {
        try upload([("PUT \(key)?partNumber=2", { _ in FaultyS3.error(403, "AccessDenied") })]) { server, store in
            let (text, _) = failure { try put(9 << 20, in: store) }
            #expect(text.contains("403 AccessDenied"))
            #expect(
                server.lines == [
                    "POST \(key)?uploads=", "PUT \(key)?partNumber=1&uploadId=u1", "PUT \(key)?partNumber=2&uploadId=u1",
                    "DELETE \(key)?uploadId=u1",
                ])
        }
        let once: @Sendable (Int) -> Response = { earlier in
            earlier == 0 ? FaultyS3.error(500, "InternalError") : FaultyS3.answer(200, "", [HeaderField("ETag", "\"t\"")])
        }
        try upload([("PUT \(key)?partNumber=1", once)]) { server, store in
            let (text, _) = failure { try put(9 << 20, in: store) }
            #expect(text == "" && server.lines.count == 5 && !server.lines.contains { $0.hasPrefix("DELETE") }, "\(text)")
        }
    }

    @Test func `completing an upload can fail with status 200, and can have succeeded without an answer`() throws {
        let late: @Sendable (Int) -> Response = { earlier in
            earlier == 0 ? FaultyS3.error(200, "InternalError") : FaultyS3.answer(200, "<R/>")
        }
        try upload([("POST \(key)?uploadId", late)]) { server, store in
            #expect(failure { try put(9 << 20, in: store) }.text == "")
            #expect(server.lines.count { $0 == "POST \(key)?uploadId=u1" } == 2)
        }
        // The upload is unknown, because it was completed: the object with this digest is there.
        let digest = FileDigest.hex(try FileDigest.sha256([UInt8](repeating: 0, count: 9 << 20)))
        let gone: @Sendable (Int) -> Response = { _ in FaultyS3.error(404, "NoSuchUpload") }
        for (stored, isThere) in [(digest, true), (String(repeating: "0", count: 64), false)] {
            let field = HeaderField("x-amz-meta-sha256", text: stored)
            let head: @Sendable (Int) -> Response = { _ in FaultyS3.answer(200, "", [field]) }
            try upload([("POST \(key)?uploadId", gone), ("HEAD", head)]) { server, store in
                #expect(failure { try put(9 << 20, in: store) }.text.isEmpty == isThere)
                #expect(server.lines.contains { $0.hasPrefix("DELETE") } == !isThere)
            }
        }
    }

    @Test func `a backup of another length than its list says is refused`() throws {
        try FaultyS3.run { _, _ in
            FaultyS3.answer(200, String(repeating: "x", count: 100_000))
        } _: { _, store in
            let file = try NewFile(nextTo: NSTemporaryDirectory() + "/longer")
            let longer = failure { try store.get(StoredBackup(name, byteCount: 5000), into: file.descriptor, nil) }
            #expect(longer.text.contains("longer than its list said"))
            let other = try NewFile(nextTo: NSTemporaryDirectory() + "/shorter")
            let shorter = failure { try store.get(StoredBackup(name, byteCount: 200_000), into: other.descriptor, nil) }
            #expect(shorter.text.contains("has 100000 bytes, and was listed with 200000"), "\(shorter.text)")
        }
    }

    @Test func `a bucket is told in the path, or in the host of Amazon unless it has dots`() throws {
        let query = [("prefix", "a b")]
        let other = try #require(S3Endpoint("http://127.0.0.1:9000"))
        #expect(other.url("a b/ü", in: "bucket", query: query) == "http://127.0.0.1:9000/bucket/a%20b/%C3%BC?prefix=a%20b")
        let amazon = S3Endpoint(region: "eu-central-1", bucket: "bucket")
        #expect(amazon.url("a", in: "bucket", query: []) == "https://bucket.s3.eu-central-1.amazonaws.com/a")
        #expect(amazon.url("", in: "bucket", query: query) == "https://bucket.s3.eu-central-1.amazonaws.com/?prefix=a%20b")
        let dots = S3Endpoint(region: "eu-central-1", bucket: "my.bucket")
        #expect(dots.url("a", in: "my.bucket", query: []) == "https://s3.eu-central-1.amazonaws.com/my.bucket/a")
    }
}
