// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmEngine

@Suite("Files that are made of what was shipped")
struct ShippedCopyTests {
    private func copy(_ shipping: Shipping, at path: String) throws -> ShippedCopy {
        ShippedCopy(path, of: try ShippedRealm(Shipping.name, in: shipping.store))
    }

    private func version(_ path: String) throws -> UInt64 { try Snapshot(file: RealmFile(path: path)).version }

    @Test func `a copy follows in its place, and is made anew where it cannot`() throws {
        let shipping = try Shipping()
        let target = try TemporaryRealm()
        try shipping.add(1...3)
        try shipping.ship()
        #expect(try copy(shipping, at: target.path).bring(to: .newest).kept == nil)
        let identity = System.identity(path: target.path)
        for id in 4...8 {
            try shipping.add(Int64(id)...Int64(id))
            try shipping.ship()
            let outcome = try copy(shipping, at: target.path).bring(to: .newest)
            #expect(outcome == ShippedCopy.Outcome(version: shipping.snapshot.version, kept: nil))
            #expect(try RecordDifference.isEqual(shipping.snapshot, Snapshot(file: RealmFile(path: target.path))))
        }
        #expect(System.identity(path: target.path) == identity)
        // An earlier version is a new file.
        let earlier = try copy(shipping, at: target.path).bring(to: .version(shipping.snapshot.version - 2))
        #expect(earlier.kept == nil && earlier.version + 2 == shipping.snapshot.version)
        #expect(System.identity(path: target.path) != identity)
        #expect(try copy(shipping, at: target.path).bring(to: .newest).version == shipping.snapshot.version)
        // So is one that another program has written to.
        let realm = try EngineRealm(path: target.path)
        try realm.write { session in _ = try session.create("Dog", ["id": .integer(70), "name": .text("foreign")]) }
        try realm.finish()
        let anew = try copy(shipping, at: target.path).bring(to: .newest)
        #expect(anew.kept != nil)
        #expect(try RecordDifference.isEqual(shipping.snapshot, Snapshot(file: RealmFile(path: target.path))))
    }

    @Test func `a file that is open is left alone`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        #expect(throws: StorageError.self) { try copy(shipping, at: shipping.file.path).bring(to: .newest) }
        try shipping.realm.finish()
    }

    /// A process that ends between any two steps leaves a position that is behind, or says that records were being applied.
    @Test func `a copy whose position is behind goes on`() throws {
        let shipping = try Shipping()
        let target = try TemporaryRealm()
        try shipping.ship()
        _ = try copy(shipping, at: target.path).bring(to: .newest)
        let old = try Data(contentsOf: URL(filePath: ShipPosition.path(of: target.path)))
        let start = try #require(ShipPosition(of: target.path))
        try shipping.add(1...6)
        try shipping.ship()
        try ShipPosition(start.chain, completeAt: nil).store(for: target.path)
        let applying = try Data(contentsOf: URL(filePath: ShipPosition.path(of: target.path)))
        _ = try copy(shipping, at: target.path).bring(to: .newest)
        try applying.write(to: URL(filePath: ShipPosition.path(of: target.path)))
        try shipping.add(7...7)
        try shipping.ship()
        #expect(try copy(shipping, at: target.path).bring(to: .newest).kept == nil)
        #expect(try version(target.path) == shipping.snapshot.version)
        // The position of a copy that was complete then does not fit the file of now.
        try old.write(to: URL(filePath: ShipPosition.path(of: target.path)))
        #expect(ShipPosition(of: target.path) == nil)
        for text in ["", "realm-rest position 1\n", "x\ntest\na\n1\n00\n\n"] {
            try Data(text.utf8).write(to: URL(filePath: ShipPosition.path(of: target.path)))
            #expect(ShipPosition(of: target.path) == nil)
        }
        #expect(try copy(shipping, at: target.path).bring(to: .newest).kept != nil)
    }

    @Test func `damage in the store is found, and changes nothing`() throws {
        let shipping = try Shipping()
        try shipping.ship()
        try shipping.add(1...3)
        try shipping.ship()
        try shipping.add(4...6)
        try shipping.ship()
        let target = try TemporaryRealm()
        for name in try shipping.store.files {
            let url = URL(filePath: shipping.store.place(of: name))
            let sound = try Data(contentsOf: url)
            for index in stride(from: 0, to: sound.count, by: max(1, sound.count / 40)) {
                var damaged = sound
                damaged[index] ^= 4
                try damaged.write(to: url)
                #expect(throws: StorageError.self, "\(name.file) at \(index)") {
                    try copy(shipping, at: target.path).bring(to: .newest)
                }
            }
            if !name.isBase {
                for count in stride(from: 1, to: sound.count, by: max(1, sound.count / 40)) {
                    try sound.prefix(count).write(to: url)
                    #expect(throws: StorageError.self) { try copy(shipping, at: target.path).bring(to: .newest) }
                }
            }
            try sound.write(to: url)
        }
        #expect(!FileManager.default.fileExists(atPath: target.path))
        // Without the first records the later ones follow nothing.
        let names = try shipping.store.chains[0].records.map(\.name)
        try shipping.store.delete(names[0])
        #expect(throws: StorageError.self) { try copy(shipping, at: target.path).bring(to: .newest) }
    }

    @Test func `a file without a server is shipped as what has changed`() throws {
        let shipping = try Shipping()
        try shipping.add(1...400)
        let offline = OfflineShipping(Shipping.name, to: shipping.store)
        func shipped() throws -> ShipName? {
            guard case .shipped(let name) = try offline.ship(shipping.snapshot) else { return nil }
            return name
        }
        #expect(try shipped()?.isBase == true)
        #expect(try shipped() == nil)
        try shipping.add(401...402)
        #expect(try shipped()?.isBase == false)
        #expect(try RecordDifference.isEqual(shipping.snapshot, try shipping.restored()))
        #expect(try shipped() == nil)
        let before = shipping.snapshot
        try shipping.add(403...404)
        #expect(try shipped()?.isBase == false)
        #expect(try RecordDifference.isEqual(before, try shipping.restored(.version(before.version))))
        // Versions between two calls were not shipped.
        #expect(throws: StorageError.self) { try shipping.restored(.version(before.version + 1)) }
        // A change of more than half of the file is stored as a whole again.
        let name = String(repeating: "a long name ", count: 2000)
        try shipping.realm.write { session in
            for id in Int64(1000)..<1300 { _ = try session.create("Dog", ["id": .integer(id), "name": .text(name)]) }
        }
        #expect(try shipped()?.isBase == true)
        #expect(try RecordDifference.isEqual(shipping.snapshot, try shipping.restored()))
    }

    @Test func `names are read as they are written, and others are not`() throws {
        let digest = String(repeating: "0a", count: 32)
        let base = ShipName(realm: Shipping.name, seconds: 1_780_272_061, chain: "k3f9abcd", version: 17, .base(digest: digest))
        let records = ShipName(realm: Shipping.name, seconds: 1_780_272_061, chain: "k3f9abcd", version: 40, .records(first: 18))
        #expect(base.file == "20260601T000101Z-k3f9abcd-17-\(digest).base.realm")
        #expect(records.file == "20260601T000101Z-k3f9abcd-18-40.records")
        for name in [base, records] { #expect(ShipName(file: name.file, realm: Shipping.name) == name) }
        for file in [
            "20260601T000101Z-k3f9abcd-18-17.records", "20260601T000101Z-k3f9abcd-018-40.records",
            "20260601T000101Z-18-40.records",
            "20260601T000101Z-k3f9abcd-17-\(digest.dropLast()).base.realm", "20260601T000101Z-17.realm", ".records",
            "20260601T000101Z-k3f9abcd-17-\(digest.uppercased()).base.realm",
        ] { #expect(ShipName(file: file, realm: Shipping.name) == nil, "\(file)") }
        #expect(BackupName(file: base.file, realm: Shipping.name) == nil)
    }

    @Test func `bases are kept as backups are, with their records, and the newest is read before anything is removed`() throws {
        let shipping = try Shipping()
        for round in 0..<4 {
            shipping.shipper.didReplaceFile()
            try shipping.ship()
            try shipping.add(Int64(round * 2)...Int64(round * 2 + 1))
            try shipping.ship()
        }
        let retention = try #require(BackupRetention("hourly=1"))
        let chains = try shipping.store.chains
        #expect(chains.count == 4)
        let url = URL(filePath: shipping.store.place(of: chains[0].base))
        let sound = try Data(contentsOf: url)
        try Data(sound.dropLast()).write(to: url)
        #expect(throws: StorageError.self) { try OfflineShipping.prune(Shipping.name, shipping.store, retention) }
        #expect(try shipping.store.chains.count == 4)
        try sound.write(to: url)
        try OfflineShipping.prune(Shipping.name, shipping.store, retention)
        #expect(try shipping.store.files.count == 2)
        try shipping.expectShipped()
    }
}
