// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@Suite("Random writes of every kind")
struct StorageWorkloadTests {
    @Test(arguments: 1...(TestRun.isLong ? 20 : 4) as ClosedRange<UInt64>)
    func `leave a file that passes verification after every commit`(seed: UInt64) throws {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path, clusterShift: seed % 2 == 0 ? 2 : 8)
        realm.inspectedEvery = TestRun.isLong ? 1 : 4
        var workload = StorageWorkload(seed: seed)
        try workload.makeSchema(realm.transaction)
        try realm.commit()
        for commit in 0..<(TestRun.isLong ? 60 : 12) {
            do {
                for _ in 0..<60 { try workload.step(realm.transaction) }
                try realm.commit()
            } catch {
                Issue.record("seed \(seed), commit \(commit): \(error)")
                return
            }
        }
        try realm.close()
    }

    /// For another program to look at: `REALM_REST_WORKLOAD_FILES=FOLDER` keeps the files, half of them encrypted.
    @Test(arguments: Array(1...UInt64(ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_SEEDS"] ?? "2")!))
    func `leave files that open again`(seed: UInt64) throws {
        let kept = ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_FILES"]
        let folder = kept ?? NSTemporaryDirectory() + "realm-rest-workload-\(getpid())-\(seed)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { if kept == nil { try? FileManager.default.removeItem(atPath: folder) } }
        let path = folder + "/workload-\(seed)\(seed % 4 == 0 ? "-encrypted" : "").realm"
        let key = seed % 4 == 0 ? try EncryptionKey(bytes: Fixtures.key) : nil
        var workload = StorageWorkload(seed: seed, mixesIndexes: kept == nil)
        for opening in 0..<4 {
            let realm = try ScratchRealm(path: path, key: key)
            if opening == 0 { try workload.makeSchema(realm.transaction) }
            for commit in 0..<4 {
                do {
                    for _ in 0..<150 { try workload.step(realm.transaction) }
                    try realm.commit()
                } catch {
                    Issue.record("seed \(seed), opening \(opening), commit \(commit): \(error)")
                    return
                }
            }
            #expect(try realm.transaction.view().tables.count == realm.store.current.tables.count)
            try realm.close()
        }
        #expect(try Snapshot(file: try RealmFile(path: path, key: key)).verify().isClean)
    }

    /// Formats below 24 and synchronized files are not written to.
    @Test(arguments: Fixtures.names)
    func `go on in the files of the reference engine`(_ name: String) throws {
        let kept = ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_FILES"]
        let folder = kept ?? NSTemporaryDirectory() + "realm-rest-continued-\(getpid())-\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { if kept == nil { try? FileManager.default.removeItem(atPath: folder) } }
        let path = folder + "/" + name + ".realm"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: try Fixtures.path(name), toPath: path)
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let before = try Snapshot(file: try RealmFile(path: path, key: key)).verify()
        let realm: ScratchRealm
        do {
            realm = try ScratchRealm(path: path, key: key)
        } catch StorageError.refused(let reason) {
            return #expect(
                try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: URL(filePath: Fixtures.path(name))), "\(reason)")
        }
        var workload = StorageWorkload(seed: 77, mixesIndexes: kept == nil)
        for commit in 0..<3 {
            do {
                for _ in 0..<60 { try workload.step(realm.transaction) }
                try realm.commit()
            } catch let failure as ScratchRealm.Failure {
                let new = failure.problems.filter { !before.errors.contains($0) }
                #expect(new.isEmpty, "\(name), commit \(commit): \(new.prefix(5))")
            } catch {
                Issue.record("\(name), commit \(commit): \(error)")
            }
        }
        try realm.close()
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `that are rolled back leave nothing behind`(seed: UInt64) throws {
        let realm = try ScratchRealm(clusterShift: 2)
        var workload = StorageWorkload(seed: seed)
        try workload.makeSchema(realm.transaction)
        for _ in 0..<200 { try workload.step(realm.transaction) }
        let before = try realm.commit()
        for round in 0..<10 {
            for _ in 0..<5 { try workload.step(realm.transaction) }
            let savepoint = realm.transaction.savepoint()
            for _ in 0..<30 { try workload.step(realm.transaction) }
            realm.transaction.rollBack(to: savepoint)
            for _ in 0..<5 { try workload.step(realm.transaction) }
            do { try realm.commit() } catch { Issue.record("seed \(seed), round \(round): \(error)") }
        }
        #expect(before.verify().isClean, "an older version changed under its readers")
        try realm.close()
    }
}
