// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

/// Checks of whole files that are given up.
@Suite("Cancelled checks")
struct CancelledCheckTests {
    /// The names of some files with objects, links, lists and indexes.
    private static let names = ["store", "multi-commit", "types-single"]

    private static var cancelled: WorkControl {
        let control = WorkControl()
        control.cancel()
        return control
    }

    private func snapshot(_ name: String) throws -> Snapshot {
        try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
    }

    @Test(arguments: names)
    func `a check that nothing cancels finds what one without a control does`(_ name: String) throws {
        let snapshot = try snapshot(name)
        let (plain, controlled) = (snapshot.verify(), try snapshot.verify(WorkControl(isWanted: { true })))
        #expect(controlled.errors == plain.errors && controlled.warnings == plain.warnings)
        #expect(controlled.statistics == plain.statistics)
    }

    @Test(arguments: names)
    func `a check ends with the reason for which it was given up`(_ name: String) throws {
        let snapshot = try snapshot(name)
        let controls: [(WorkControl, StorageError)] = [
            (Self.cancelled, WorkControl.stopped), (WorkControl(deadline: Instant.now()), .stopped(.expired)),
            (WorkControl(isWanted: { false }), .stopped(.cancelled)),
        ]
        for (control, reason) in controls {
            Threads.sleep(seconds: 0.001)
            #expect(throws: reason) { try snapshot.verify(control) }
        }
    }

    @Test(arguments: names)
    func `each part of a cancelled check ends before it has read much`(_ name: String) throws {
        let snapshot = try snapshot(name)
        var whole = ObjectCheck(snapshot, isExact: false)
        var sound = VerifyReport()
        whole.readKeys(&sound)
        #expect(sound.statistics.objects > 0)
        var report = VerifyReport(Self.cancelled)
        #expect(!SpaceProof.run(snapshot, &report))
        #expect(throws: WorkControl.stopped) { try SpaceCheck(snapshot).run(&report) }
        #expect(report.statistics.nodes == 0)
        var objects = ObjectCheck(snapshot, isExact: false)
        objects.readKeys(&report)
        #expect(report.statistics.objects == 0)
        whole.run(ProofHash(), unique: [], &report)
        #expect(report.statistics.links == 0)
        let proofs = IndexProver(snapshot, keys: whole.live, ProofHash(), Self.cancelled).finish()
        for table in snapshot.tables {
            for column in table.columns { #expect(proofs.result(table, column) == nil) }
            IndexCheck(table: table).run(&report)
        }
        #expect(report.statistics.indexEntries == 0)
    }

    /// It used to run to its end, and who wanted to let go of the realm waited for it.
    @Test func `the audit of a file that is being opened is cancelled, and leaves the file as it was`() throws {
        let file = try TemporaryRealm("store")
        let before = try file.bytes
        var options = FileStore.Options()
        options.verification = .always
        options.control = Self.cancelled
        #expect(throws: WorkControl.stopped) { try FileStore.open(path: file.path, options).close() }
        #expect(throws: WorkControl.stopped) { try FileStore.dryRun(copyOf: file.path, options).close() }
        #expect(try file.bytes == before)
        options.control = WorkControl()
        try FileStore.open(path: file.path, options).close()
    }
}
