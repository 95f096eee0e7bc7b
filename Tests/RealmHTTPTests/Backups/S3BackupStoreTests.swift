// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHosting
import RealmHTTP
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Backups in a bucket.
@Suite(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"), .serialized)
struct S3BackupStoreTests {
    private static let megabyte = 1 << 20

    private func name(_ seconds: Int64, _ version: UInt64, realm: String = "app") throws -> BackupName {
        BackupName(
            realm: try #require(RealmName(realm)), time: WallClock(nanoseconds: (1_780_272_000 + seconds) * 1_000_000_000),
            version: version)
    }

    private func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let block = (0..<(1 << 16)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return (0..<count).map { block[$0 & 0xffff] ^ UInt8(truncatingIfNeeded: $0 >> 16) }
    }

    private func put(_ bytes: [UInt8], _ name: BackupName, in store: S3BackupStore) throws {
        try store.put(name) { backend throws(StorageError) in
            try backend.extend(to: bytes.count)
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: 0) }
        }
    }

    private func read(_ name: BackupName, from store: S3BackupStore) throws -> [UInt8] {
        let file = try NewFile(nextTo: NSTemporaryDirectory() + "/read")
        // One that is gone was listed before.
        let backup = try store.list(of: name.realm).first { $0.name == name } ?? StoredBackup(name, byteCount: 1000)
        try store.get(backup, into: file.descriptor, nil)
        return try Array(Data(contentsOf: URL(fileURLWithPath: file.openPath)))
    }

    /// The text of the error that a closure throws.
    private func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `backups are stored, listed page by page, read and deleted, with signatures that the server checks`() throws {
        let server = try S3Server()
        var options = try server.options(try server.requireSignatures())
        options.pageCount = 2
        let store = S3BackupStore(options)
        let realm = try #require(RealmName("app"))
        #expect(try store.names(of: realm) == [])
        let names = try (0..<5).map { try name(Int64($0), UInt64($0) + 1) }
        for (index, name) in names.enumerated() { try put(bytes(1000 + index, seed: 1), name, in: store) }
        try put([1, 2, 3], try name(0, 1, realm: "app2"), in: store)
        let list = try store.list(of: realm)
        #expect(list.map(\.name) == names.reversed() && list.map(\.byteCount) == [1004, 1003, 1002, 1001, 1000])
        #expect(server.log().components(separatedBy: "continuation-token").count == 3)
        #expect(try read(names[3], from: store) == bytes(1003, seed: 1))
        try store.delete(names[3])
        try store.delete(names[3])
        #expect(try store.names(of: realm).count == 4)
        #expect(throws: StorageError.refused(.fileNotFound)) { _ = try read(names[3], from: store) }
        #expect(store.place(of: names[0]) == "s3://backups/some folder/of+mine/app/20260601T000000Z-1.realm")
    }

    @Test func `a list of more than a thousand keys is read page by page`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options())
        let names = try (0..<1105).map { try name(Int64($0), 1) }
        for name in names {
            let path = "/backups/some%20folder/of%2Bmine/app/\(name.file)"
            let answer = try HTTPClient.request(port: server.port, "PUT", path, body: [1])
            guard answer.status == 200 else { throw S3Server.Failure(description: answer.text) }
        }
        #expect(try store.names(of: #require(RealmName("app"))) == names.reversed())
        #expect(server.log().components(separatedBy: "continuation-token").count == 2)
    }

    @Test func `a backup with the bytes of one that is there is not sent`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options())
        func put(_ bytes: [UInt8], _ name: BackupName, unlessLike other: BackupName) throws -> Bool {
            try store.put(name, unlessLike: other, nil) { backend throws(StorageError) in
                try backend.extend(to: bytes.count)
                try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: 0) }
            }
        }
        let (first, second, third) = (try name(0, 1), try name(1, 1), try name(2, 1))
        try self.put([1, 2, 3], first, in: store)
        #expect(try !put([1, 2, 3], second, unlessLike: first))
        #expect(try put([1, 2, 4], second, unlessLike: first))
        #expect(try put([1, 2, 4], third, unlessLike: try name(9, 9)))
        #expect(try store.names(of: first.realm) == [third, second, first])
        #expect(try store.digest(of: first) == FileDigest.sha256([1, 2, 3]))
    }

    @Test func `a long backup is sent in parts, and is one object at the end`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options(try server.requireSignatures()))
        let content = bytes(17 * S3BackupStoreTests.megabyte + 5, seed: 2)
        try put(content, try name(0, 1), in: store)
        #expect(server.log().contains("partNumber=3") && !server.log().contains("partNumber=4"))
        #expect(try read(try name(0, 1), from: store) == content)
        #expect(try store.list(of: #require(RealmName("app"))).map(\.byteCount) == [content.count])
    }

    @Test func `an upload that is cancelled half-way leaves no object and no parts`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options())
        let control = WorkControl()
        let path = server.logPath
        Thread.detachNewThread {
            _ = eventually { (try? String(contentsOfFile: path, encoding: .utf8))?.contains("partNumber=1&") == true }
            control.cancel()
        }
        #expect(throws: WorkControl.stopped) {
            _ = try store.put(try name(0, 1), unlessLike: nil, control) { backend throws(StorageError) in
                try backend.extend(to: 64 * S3BackupStoreTests.megabyte)
            }
        }
        #expect(server.log().contains("partNumber=1&"))
        #expect(try store.list(of: #require(RealmName("app"))) == [])
        let uploads = try HTTPClient.request(port: server.port, "GET", "/backups?uploads").text
        #expect(uploads.contains("ListMultipartUploadsResult") && !uploads.contains("<UploadId>"), "\(uploads)")
    }

    @Test func `bytes that are not those of the digest are refused`() throws {
        let server = try S3Server()
        let store = S3BackupStore(try server.options())
        let name = try name(0, 1)
        let digest = String(repeating: "0", count: 64)
        let answer = try HTTPClient.request(
            port: server.port, "PUT", "/backups/some%20folder/of%2Bmine/app/\(name.file)",
            headers: [("x-amz-meta-sha256", digest)], body: [1, 2, 3])
        #expect(answer.status == 200)
        #expect(failure { _ = try read(name, from: store) }.contains("does not have the SHA-256 that was stored with it"))
    }

    @Test func `a store that refuses is quoted, and no secret is in what is said`() throws {
        let server = try S3Server()
        let good = try server.requireSignatures()
        let realm = try #require(RealmName("app"))
        let wrong = S3BackupStore(try server.options(S3Credentials(id: "AKIDNOBODY", secret: "hunter2", token: "t0ken")))
        let text = failure { _ = try wrong.list(of: realm) }
        #expect(text.contains("answered 403 Invalid") && text.contains("http://127.0.0.1:\(server.port)"), "\(text)")
        #expect(!text.contains("hunter2") && !text.contains("t0ken"))
        #expect(failure { try put([1], try name(0, 1), in: wrong) }.contains("403"))
        var missing = try server.options(good)
        missing.location = try #require(S3Location("s3://nowhere"))
        for text in [
            failure { _ = try S3BackupStore(missing).list(of: realm) },
            failure { _ = try read(try name(0, 1), from: S3BackupStore(missing)) },
        ] {
            #expect(text.contains("bucket"), "\(text)")
        }
        var shown = ""
        dump(wrong, to: &shown)
        #expect(!shown.contains("hunter2") && !"\(wrong)".contains("hunter2"))
        server.stop()
        let start = Date()
        let gone = failure { _ = try S3BackupStore(try server.options(good)).list(of: realm) }
        #expect(gone.contains("cannot be used: Failed to connect") && Date().timeIntervalSince(start) < 30, "\(gone)")
    }

    @Test func `A18: a plan backs up to a bucket, tells when its server stops mid-way, and goes on when it is back`() throws {
        var server = try S3Server()
        let port = server.port
        let options = try server.options()
        try withWriteServer(change: { change in
            // An attempt that fails takes about four seconds, and each list of the backups, too.
            change.backupPlan = BackupPlan(every: .seconds(8), to: S3BackupStore(options))
            change.backupPlan?.retention = BackupRetention("monthly=1")
        }) { realm in
            func state() throws -> String? { try realm.get("app/backups").json["state"]?.text }
            func planned() throws -> [ParsedJSON] {
                try realm.get("app/backups").json["items"]?.elements?.filter { $0["kind"]?.text == "planned" } ?? []
            }
            #expect(try eventually { try state() == "ok" })
            let first = try #require(try planned().first?["id"]?.text)
            // A file of many parts, whose server is gone after the first one.
            let text = String(repeating: "x", count: 6 * S3BackupStoreTests.megabyte)
            try realm.done(
                "POST", "app/batch",
                #"{"ops":[{"create":{"class":"Note","body":{"text":"\#(text)"}}},{"patch":{"class":"Dog","key":"1","body":{"age":7}}}]}"#
            )
            for _ in 0..<7 { try realm.done("POST", "app/objects/Note", #"{"text":"\#(text)"}"#) }
            #expect(eventually { server.log().contains("partNumber=1&") })
            server.stop()
            #expect(try eventually { try state() == "failed" })
            let error = try #require(try realm.get("app/backups").json["lastError"]?.text)
            #expect(error.contains("cannot be used"), "\(error)")
            try realm.done("PATCH", "app/objects/Dog/1", #"{"age":8}"#)
            server = try S3Server(port: port)
            // A backup that was begun before the change may be stored first; the one after that has it.
            let written = Int64(try #require(try realm.get("app").json["version"]?.text?.split(separator: ".").last)) ?? .max
            #expect(
                try eventually {
                    let newest = try planned().first
                    return try state() == "ok" && newest?["bytes"]?.int ?? 0 > 48 << 20 && newest?["version"]?.int ?? 0 >= written
                })
            let id = try #require(try planned().first?["id"]?.text)
            #expect(id != first)
            try realm.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#)
            let answer = try realm.send("POST", "app/restore", #"{"backup":"\#(id)"}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try realm.get("app/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 8)
        }
    }
}
