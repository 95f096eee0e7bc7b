// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmEngine

/// A folder of shipped files that refuses when it is told to.
final class FlakyStore: BackupStore, @unchecked Sendable {
    let folder: FolderBackupStore
    let path: String
    /// Whether everything is refused.
    var isDown = false
    /// Stores the next file, and reports a failure all the same.
    var losesAnswer = false
    private(set) var attempts = 0

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("realm-rest-ship-\(UUID().uuidString)").path
        folder = FolderBackupStore(path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func put(
        of realm: RealmName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void,
        naming: (_ digest: () throws(StorageError) -> [UInt8]) throws(StorageError) -> (any StoredName)?
    ) throws(StorageError) {
        attempts += 1
        guard !isDown else { throw .io(operation: "put", errno: 5) }
        do throws(StorageError) {
            try folder.put(of: realm, control, write, naming: naming)
        } catch {
            guard case .io(_, EEXIST) = error else { throw error }
        }
        if losesAnswer {
            losesAnswer = false
            throw .io(operation: "put", errno: 110)
        }
    }

    func files<Name: StoredName>(of realm: RealmName) throws(StorageError) -> [(name: Name, byteCount: Int)] {
        guard !isDown else { throw .io(operation: "list", errno: 5) }
        return try folder.files(of: realm)
    }

    func get(_ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?) throws(StorageError) {
        try folder.get(name, byteCount: byteCount, into: target, control)
    }

    func digest(of name: any StoredName) throws(StorageError) -> [UInt8]? { try folder.digest(of: name) }
    func delete(_ name: any StoredName) throws(StorageError) { try folder.delete(name) }
    func place(of name: any StoredName) -> String { folder.place(of: name) }

    var files: [ShipName] { get throws { try folder.shipped(of: Shipping.name).map(\.name) } }
    var chains: [ShippedChain] { get throws { ShippedChain.chains(in: try folder.shipped(of: Shipping.name)) } }
}

/// A file that is shipped.
final class Shipping {
    static let name = RealmName("test")!
    let file: TemporaryRealm
    let realm: EngineRealm
    let store: FlakyStore
    let shipper: RealmShipper
    var progress = RealmShipper.Progress()

    static let dog = ClassInput(
        "Dog", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("name", "string", indexed: "general")])

    init(queueBytes: Int = 64 << 20, fewBytes: Int = 4 << 20) throws {
        file = try TemporaryRealm()
        store = try FlakyStore()
        realm = try EngineRealm(path: file.path, [Shipping.dog])
        shipper = RealmShipper(Shipping.name, ShipBudget(limit: queueBytes), fewBytes: fewBytes)
        try shipper.attach(realm.database)
    }

    func add(_ ids: ClosedRange<Int64>, name: String = "Rex") throws { try Shipping.add(ids, name: name, to: realm) }

    static func add(_ ids: ClosedRange<Int64>, name: String = "Rex", to realm: EngineRealm) throws {
        for id in ids {
            try realm.write { session in _ = try session.create("Dog", ["id": .integer(id), "name": .text(name)]) }
        }
    }

    func ship() throws { try shipper.ship(to: store, nil, &progress) }

    var snapshot: Snapshot { realm.database.current.snapshot }

    /// Makes a version from the store, and returns it.
    func restored(_ target: ShippedRealm.Target = .newest) throws -> Snapshot {
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        _ = try ShippedRealm(Shipping.name, in: store).restore(target, to: file)
        let snapshot = try Snapshot(file: RealmFile(path: file.openPath))
        let report = snapshot.verify()
        guard report.isClean else { throw StorageError.corrupt(ref: .none, reason: report.errors.joined(separator: "\n")) }
        return snapshot
    }

    func expectShipped(_ what: String = "") throws {
        #expect(!shipper.isBehind && shipper.behindSince == nil, "\(what)")
        #expect(try RecordDifference.isEqual(snapshot, try restored()), "\(what)")
    }
}
