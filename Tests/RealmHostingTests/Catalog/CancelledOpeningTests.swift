// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Openings that the catalog has begun, of realms that are detached meanwhile.
@Suite struct CancelledOpeningTests {
    /// What opens a realm.
    enum Opener: CaseIterable, Sendable { case request, configuration, repetition }

    /// A catalog over the folder of a file, with a slow opening.
    private func catalog(over file: TemporaryRealm, _ opening: SlowOpening) throws -> Catalog {
        let catalog = Catalog()
        catalog.serve(try DataFolder(path: file.url.deletingLastPathComponent().path) { _ in Database.OpenOptions() })
        catalog.replicate(by: opening)
        return catalog
    }

    @Test(arguments: Opener.allCases)
    func `detaching a realm ends its opening, whatever has begun that, and the realm stays away`(_ opener: Opener) throws {
        let file = try TemporaryRealm()
        try file.write([])
        let opening = SlowOpening(failsFirst: opener == .repetition)
        let catalog = try catalog(over: file, opening)
        // The folder lists the file under its own name.
        let name = try #require(RealmName(opener == .request ? "test" : "other"))
        let path = file.path
        if opener != .request { try catalog.reserve(name, path: path) }
        if opener == .repetition {
            catalog.open(name, path: path, Database.OpenOptions())
            #expect(catalog.take(name.text, .now()))
        }
        let end = Awaited<Bool>()
        Threads.spawn("opening") {
            switch opener {
            case .request: _ = catalog.openNow(name.text)
            case .configuration: catalog.open(name, path: path, Database.OpenOptions())
            case .repetition: catalog.revive(name.text)
            }
            end.set(true)
        }
        #expect(eventually { opening.begun == 1 })
        catalog.detach(name.text)
        let told = Awaited<Bool>()
        catalog.whenOpeningsEnd(name.text) { told.set(true) }
        #expect(try told.wait())
        #expect(opening.cancelled == 1)
        #expect(try end.wait())
        if let state = catalog[name.text] { Issue.record("the realm is there again: \(state)") }
        #expect(catalog.failedSource(name.text)?.path == nil)
        withExtendedLifetime(file) {}
    }

    @Test func `detaching a realm ends other long work on it, and what is begun afterwards`() throws {
        let catalog = Catalog()
        let name = try #require(RealmName("test"))
        try catalog.reserve(name)
        catalog.openInMemory(name, identifier: "test")
        let begun = Awaited<Bool>()
        let end = Awaited<StorageError?>()
        Threads.spawn("work") {
            let control = WorkControl()
            do throws(StorageError) {
                try catalog.work(on: "test", control) { () throws(StorageError) in
                    begun.set(true)
                    let end = Instant.now().adding(seconds: 20)
                    while Instant.now() < end {
                        try control.check()
                        Threads.sleep(seconds: 0.005)
                    }
                }
                end.set(nil)
            } catch { end.set(error) }
        }
        #expect(try begun.wait())
        catalog.detach("test")
        let told = Awaited<Bool>()
        catalog.whenOpeningsEnd("test") { told.set(true) }
        #expect(try told.wait())
        #expect(try end.wait() == WorkControl.stopped)
        let late = WorkControl()
        catalog.work(on: "test", late) { #expect(late.isCancelled) }
    }

    @Test func `a realm that is detached just before its file is opened is not opened any more`() throws {
        let file = try TemporaryRealm()
        try file.write([])
        let opening = SlowOpening()
        let catalog = Catalog()
        // The options are the last thing that an opening asks for.
        catalog.serve(
            try DataFolder(path: file.url.deletingLastPathComponent().path) { [weak catalog] name in
                catalog?.detach(name.text)
                return Database.OpenOptions()
            })
        catalog.replicate(by: opening)
        guard case .settled(.none) = catalog.openNow("test") else {
            Issue.record("the realm is still there")
            return
        }
        #expect(opening.begun == 0)
        withExtendedLifetime(file) {}
    }
}
