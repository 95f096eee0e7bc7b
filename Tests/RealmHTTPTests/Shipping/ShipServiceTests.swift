// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmBackups
import RealmEngine
@testable import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmHTTP

/// Commits on their way to a folder or a bucket, while realms are open, closed and opened again.
@Suite(.serialized)
struct ShipServiceTests {
    private static let name = RealmName("app")!

    /// A server without HTTP: a catalog with one realm, and the service.
    private final class Scene {
        let file: TemporaryRealm
        let catalog = Catalog()
        let service: ShipService
        let store: any BackupStore

        init(_ store: any BackupStore, key: EncryptionKey? = nil, queueBytes: Int = 1 << 22) throws {
            self.store = store
            file = try TemporaryRealm()
            var plan = ShipPlan()
            plan.every = .milliseconds(50)
            let service = ShipService(plan, to: store, catalog, queueBytes: queueBytes, log: nil)
            self.service = service
            catalog.whenOpening { [weak service] database in service?.attach(database) }
            try catalog.reserve(ShipServiceTests.name)
            var options = Database.OpenOptions(key: key, mode: .readWrite)
            options.createsMissingFile = true
            _ = catalog.open(ShipServiceTests.name, path: file.path, options)
            try service.start()
        }

        var database: Database { get throws { try #require(catalog.database("app")) } }

        func write(_ body: @escaping @Sendable (WriteSession) throws -> Void) throws {
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            try database.write(EngineRealm.request(), body) { answer.set($0) }
            _ = try answer.wait().get()
        }

        func add(_ ids: ClosedRange<Int64>) throws {
            for id in ids { try write { session in _ = try session.create("Dog", ["_id": .integer(id), "age": .integer(id)]) } }
        }

        func metric(_ name: String) -> Double {
            var text = MetricsText()
            service.write(to: &text)
            let line = text.text.split(separator: "\n").first { $0.hasPrefix("realm_rest_\(name) ") }
            return line.flatMap { Double($0.split(separator: " ")[1]) } ?? -1
        }

        /// Waits until nothing is behind.
        func settle() -> Bool {
            eventually(seconds: 60) { self.metric("ship_behind_realms") == 0 && self.metric("ship_waiting_bytes") == 0 }
        }

        func restored() throws -> Snapshot {
            let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
            _ = try ShippedRealm(ShipServiceTests.name, in: store).restore(.newest, to: file)
            return try Snapshot(file: RealmFile(path: file.openPath))
        }

        func stop() {
            catalog.closeAll()
            service.stop()
        }
    }

    private static func folder() -> String { NSTemporaryDirectory() + "realm-rest-ship-\(UUID().uuidString)" }

    @Test func `a folder has every commit soon, and the last ones at the end`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try check(FolderBackupStore(folder))
    }

    @Test(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"))
    func `a bucket has every commit soon, and the last ones at the end`() throws {
        let server = try S3Server()
        var options = try server.options(try server.requireSignatures())
        options.pageCount = 3
        try check(S3BackupStore(options))
    }

    private func check(_ store: any BackupStore) throws {
        let scene = try Scene(store)
        try scene.write { session in try session.createSchema(SchemaInput(classes: WriteServer.classes)) }
        try scene.add(1...20)
        #expect(scene.settle())
        let snapshot = try scene.database.current.snapshot
        #expect(try RecordDifference.isEqual(snapshot, try scene.restored()))
        #expect(scene.metric("shipped_bases_total") >= 1 && scene.metric("ship_failures_total") == 0)
        #expect(scene.metric("ship_lag_seconds") == 0 && scene.metric("shipped_bytes_total") > 0)
        // Closed and opened again, it goes on without another base.
        let bases = scene.metric("shipped_bases_total")
        #expect(scene.catalog.closeIfUnused("app"))
        guard case .settled(.ready(let database)?) = scene.catalog.openNow("app") else {
            Issue.record("the realm was not opened again")
            return
        }
        try scene.add(21...25)
        #expect(scene.settle() && scene.metric("shipped_bases_total") == bases)
        // What was committed just before the end is stored too.
        try scene.add(26...30)
        let last = database.current.snapshot
        scene.stop()
        #expect(try RecordDifference.isEqual(last, try scene.restored()))
        #expect(try scene.restored().verify().isClean)
    }

    @Test(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"))
    func `a bucket that is gone is tried again, with bounded memory, and gets a base`() throws {
        let server = try S3Server()
        let scene = try Scene(S3BackupStore(try server.options()), queueBytes: 1 << 18)
        try scene.write { session in try session.createSchema(SchemaInput(classes: WriteServer.classes)) }
        #expect(scene.settle())
        server.stop()
        for round in 0..<8 {
            try scene.write { session in
                for id in 0..<600 {
                    let key = Int64(round * 600 + id)
                    _ = try session.create(
                        "Dog", ["_id": .integer(key), "age": .integer(key), "name": .text("a long name \(key)")])
                }
            }
        }
        #expect(scene.metric("ship_waiting_bytes") <= Double(1 << 18))
        #expect(eventually(seconds: 60) { scene.metric("ship_failures_total") > 0 })
        #expect(scene.metric("ship_behind_realms") == 1 && scene.metric("ship_lag_seconds") > 0)
        let again = try S3Server(port: server.port)
        #expect(scene.settle())
        #expect(try RecordDifference.isEqual(scene.database.current.snapshot, try scene.restored()))
        scene.stop()
        withExtendedLifetime(again) {}
    }

    @Test func `an encrypted realm is counted as refused, and nothing of it is stored`() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let scene = try Scene(FolderBackupStore(folder), key: try EncryptionKey(bytes: Fixtures.key))
        try scene.write { session in try session.createSchema(SchemaInput(classes: WriteServer.classes)) }
        #expect(scene.metric("ship_refused_realms") == 1 && scene.metric("ship_behind_realms") == 0)
        scene.stop()
        #expect(!FileManager.default.fileExists(atPath: folder + "/app"))
    }

    /// Files that no request names are shipped once, and again when they are newer than what was shipped.
    @Test func `closed realms are looked at when the server starts`() throws {
        let folder = Self.folder()
        let data = Self.folder()
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        defer { for path in [folder, data] { try? FileManager.default.removeItem(atPath: path) } }
        let realm = try EngineRealm(path: data + "/quiet.realm", WriteServer.classes)
        try realm.finish()
        var options = ServerOptions()
        (options.port, options.dataFolder, options.logFormat) = (0, data, nil)
        options.ship.target = BackupTarget(folder)
        options.ship.every = .milliseconds(50)
        for _ in 0..<2 {
            let server = try RealmServer(options)
            try server.start()
            let store = FolderBackupStore(folder)
            let name = try #require(RealmName("quiet"))
            #expect(eventually(seconds: 60) { (try? store.shipped(of: name).count) == 1 })
            server.stop()
        }
    }
}
