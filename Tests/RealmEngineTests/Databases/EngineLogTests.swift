// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What operators read in the log of the engine.
@Suite struct EngineLogTests {
    private static let classes = [ClassInput("Dog", primaryKey: "_id", [PropertyInput("_id", "int")])]

    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-log-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/app.realm")
    }

    @Test func `opening and closing a realm are logged with its name, and nothing of its contents is`() throws {
        try inFolder { path in
            let capture = LogCapture()
            let realm = try EngineRealm(path: path, EngineLogTests.classes, logger: capture.logger)
            try realm.write { session in _ = try session.create("Dog", ["_id": .integer(987_654)]) }
            try realm.finish()
            #expect(capture.lines.count == 2)
            #expect(capture.lines.first?.hasPrefix("info: realm opened bytes=") == true)
            #expect(capture.lines.first?.hasSuffix("mode=rw realm=test version=1") == true, "\(capture.lines)")
            #expect(capture.lines.last == "info: realm closed realm=test")
        }
    }

    @Test func `a file that was left in the middle of a commit is logged when it is opened`() throws {
        try inFolder { path in
            try EngineRealm(path: path, EngineLogTests.classes).finish()
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(repeating: 0xaa, count: 8192))
            try handle.close()
            let capture = LogCapture()
            try EngineRealm(path: path, logger: capture.logger).finish()
            #expect(capture.lines.contains { $0.hasPrefix("notice: the file was left in the middle of a commit") })
        }
    }

    @Test func `a file that cannot be opened is logged with the reason`() throws {
        try inFolder { path in
            try Data(repeating: 0, count: 4096).write(to: URL(fileURLWithPath: path))
            let capture = LogCapture()
            #expect(throws: StorageError.self) { _ = try EngineRealm(path: path, logger: capture.logger) }
            #expect(capture.lines.count == 1 && capture.lines[0].hasPrefix("error: realm not opened realm=test reason="))
        }
    }

    @Test func `a full disk and a broken one are logged, each in its words`() throws {
        let backend = try FaultBackend()
        let capture = LogCapture()
        let classes = [ClassInput("Blob", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("bytes", "data")])]
        let realm = try EngineRealm(try FileStore(backend), classes, logger: capture.logger)
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        backend.resetCounts()
        backend.failing = (.extend, 0, 28)
        _ = realm.failure { _ = try $0.create("Blob", ["_id": .integer(1), "bytes": .typed(.binary(bytes))]) }
        #expect(capture.lines.last?.hasPrefix("error: the disk is full: a commit was undone") == true, "\(capture.lines)")
        backend.resetCounts()
        backend.failing = (.sync, 0, 5)
        _ = realm.failure { _ = try $0.create("Blob", ["_id": .integer(2), "bytes": .typed(.binary([7]))]) }
        #expect(capture.lines.last?.hasPrefix("critical: nothing is written until") == true, "\(capture.lines)")
        realm.database.close()
    }
}
