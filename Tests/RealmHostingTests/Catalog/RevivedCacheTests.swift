// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Realms of a cluster that could not be opened because something was missing in their log.
@Suite struct RevivedCacheTests {
    /// A log that lacks something when it is asked for the first two times.
    private final class LateLog: RealmReplication {
        /// How often it was asked.
        private let asked = RankedMutex(.leaf, 0)

        func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) throws(StorageError) -> Database {
            let count = asked.withLock { count -> Int in
                count += 1
                return count
            }
            guard count > 2 else { throw .corrupt(ref: .none, reason: "the log has no base yet") }
            var options = options
            options.createsMissingFile = true
            return try Database.open(name: name, path: path, options)
        }

        func release(_ name: RealmName) {}
        func resume(_ database: Database) {}
        func drop(_ name: RealmName) throws(StorageError) {}
    }

    @Test func `a realm that its log could not make is tried again although its file has not changed`() throws {
        let file = try TemporaryRealm()
        let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
        try Data().write(to: URL(fileURLWithPath: file.path))
        let catalog = Catalog()
        catalog.serve(
            try DataFolder(path: folder) { _ in
                var options = Database.OpenOptions()
                options.mode = .readWrite
                return options
            })
        catalog.replicate(by: LateLog())
        let name = try #require(RealmName("late"))
        try catalog.reserve(name)
        var options = Database.OpenOptions()
        options.mode = .readWrite
        guard case .failed = catalog.open(name, path: file.path, options) else {
            Issue.record("the log was there too early")
            return
        }
        #expect(catalog.take(name.text, .now()))
        guard case .failed? = catalog.revive(name.text) else {
            Issue.record("the log was not asked a second time")
            return
        }
        #expect(catalog.take(name.text, Instant.now().adding(seconds: 5)))
        guard case .ready(let database)? = catalog.revive(name.text) else {
            Issue.record("the realm was not opened when its log had everything")
            return
        }
        database.close()
    }
}
