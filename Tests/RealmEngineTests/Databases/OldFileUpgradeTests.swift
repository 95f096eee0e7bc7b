// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Files of formats 2 to 9 that are upgraded in place.
@Suite struct OldFileUpgradeTests {
    private let folder = NSTemporaryDirectory() + "upgrade-\(UUID().uuidString)"
    private var path: String { folder + "/old.realm" }

    /// Writes a file, long enough ago for its conversion to be kept, and removes it after a body.
    private func withFile(_ bytes: [UInt8], _ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: path)
        try body()
    }

    /// Opens the file in a mode and closes it.
    private func open(_ mode: Database.Mode, upgrades: Bool = false) throws {
        var options = Database.OpenOptions(mode: mode)
        options.upgradesInPlace = upgrades
        try Database.open(name: try #require(RealmName("old")), path: path, options).close()
    }

    @Test func `an upgrade in place does not take a kept conversion that is damaged`() throws {
        try withFile(try LegacyFixtures.bytes("v9-blob")) {
            try open(.readOnly)
            let state = try System.facts(path: path).signature
            // Without a private folder for caches nothing is kept, and nothing can be damaged.
            if let cache = System.cacheFolder("realm-rest/converted") {
                let names = try FileManager.default.contentsOfDirectory(atPath: cache)
                let kept = try #require(names.first { $0.contains(state) && $0.hasSuffix(".realm") })
                let url = URL(fileURLWithPath: cache + "/" + kept)
                var bytes = try Data(contentsOf: url)
                let middle = bytes.count / 2 & ~4095
                bytes.replaceSubrange(
                    middle..<min(middle + 4096, bytes.count), with: Data(count: min(4096, bytes.count - middle)))
                try bytes.write(to: url)
            }
            try open(.readWrite, upgrades: true)
            let upgraded = try Snapshot(file: try RealmFile(path: path))
            #expect(upgraded.fileFormat == 24 && upgraded.verify().errors == [])
        }
    }

    @Test func `a file with a history of an unknown kind is not upgraded in place`() throws {
        var bytes = try LegacyFixtures.bytes("v9-subtables")
        let slot = Int(bytes[23] & 1)
        let top = (0..<8).reduce(0) { $0 | Int(bytes[8 * slot + $1]) << (8 * $1) }
        try #require(bytes[top + 4] & 7 == 5 && bytes[top + 7] == 10, "a top node of 10 slots of 16 bits")
        bytes[top + 8 + 2 * 7] = 7 << 1 | 1
        try withFile(bytes) {
            #expect {
                try open(.readWrite, upgrades: true)
            } throws: { "\($0)".contains("history of the file is of type 7") }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes))
            try open(.copy)
        }
    }

    @Test(arguments: ["v11-streaming", "v11-compacted", "v10-java-600-beta2-alltypes-max-19bf"])
    func `an upgrade that fails leaves the file as it was, and no copy`(name: String) throws {
        let bytes = try LegacyFixtures.bytes(name)
        try withFile(bytes) {
            let hasCopy = { @Sendable [folder] in
                (try? FileManager.default.contentsOfDirectory(atPath: folder))?.contains { $0.contains(".backup") } ?? false
            }
            var options = Database.OpenOptions(mode: .readWrite)
            options.upgradesInPlace = true
            // The copy is the last step before anything in the file is changed.
            let stored = RankedMutex<WorkControl?>(.leaf, nil)
            let control = WorkControl { _ in if hasCopy() { stored.withLock { $0 }?.cancel() } }
            stored.withLock { $0 = control }
            defer { stored.withLock { $0 = nil } }
            options.control = control
            let name = try #require(RealmName("old"))
            #expect(throws: StorageError.self) { try Database.open(name: name, path: path, options).close() }
            #expect(control.isCancelled, "nothing was cancelled after the copy")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes))
            #expect(!hasCopy())
        }
    }
}
