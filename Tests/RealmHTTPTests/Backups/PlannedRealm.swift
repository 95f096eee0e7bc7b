// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// A realm of a server that is backed up round by round, at times that a test chooses.
final class PlannedRealm {
    /// The time of the backups, in seconds since 1970.
    final class Clock: Sendable {
        private let seconds = Atomic<Int>(1_780_272_000)

        /// Monday, 2026-06-01T00:00:00Z at the start.
        var now: Int { seconds.load(ordering: .relaxed) }

        func advance(seconds count: Int) { seconds.add(count, ordering: .relaxed) }
    }

    let path: String
    let clock = Clock()
    private let key: EncryptionKey?
    private var catalog = Catalog()
    private(set) var database: Database

    static let name = RealmName("app")!

    /// Makes a file with one dog at a path.
    init(path: String, key: EncryptionKey? = nil) throws {
        self.path = path
        self.key = key
        database = try PlannedRealm.open(path, key, in: catalog)
        try write { session in
            try session.createSchema(SchemaInput(classes: WriteServer.classes))
            _ = try session.create("Dog", ["_id": .integer(1), "age": .integer(0)])
        }
    }

    deinit { catalog.closeAll() }

    private static func open(_ path: String, _ key: EncryptionKey?, in catalog: Catalog) throws -> Database {
        try catalog.reserve(name)
        var options = Database.OpenOptions(key: key, mode: .readWrite)
        options.createsMissingFile = true
        switch catalog.open(name, path: path, options) {
        case .ready(let database): return database
        case .failed(let error): throw error
        case .opening, .closed: throw StorageError.refused(.fileNotFound)
        }
    }

    /// Closes the file and opens it again, as a restart of the server does.
    ///
    /// - Parameter change: Changes the closed file.
    func reopen(_ change: () throws -> Void = {}) throws {
        catalog.closeAll()
        catalog = Catalog()
        try change()
        database = try PlannedRealm.open(path, key, in: catalog)
    }

    func write(_ body: @escaping @Sendable (WriteSession) throws -> Void) throws {
        let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
        database.write(EngineRealm.request(), body) { answer.set($0) }
        _ = try answer.wait(seconds: 60).get()
    }

    func setAge(_ age: Int) throws {
        try write { session in _ = try session.patch("Dog", .text("1"), ["age": .integer(Int64(age))]) }
    }

    /// The backups of a server that was started just now.
    func backups(to store: any BackupStore, keep: String? = nil) -> PlannedBackups {
        var plan = BackupPlan(every: .seconds(3600), to: store)
        plan.retention = keep.flatMap(BackupRetention.init)
        plan.clock = { [clock] in WallClock(nanoseconds: Int64(clock.now) * 1_000_000_000) }
        return PlannedBackups(plan, catalog, log: nil)
    }
}
