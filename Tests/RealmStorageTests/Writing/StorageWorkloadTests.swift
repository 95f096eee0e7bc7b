// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Random writes of every kind")
struct StorageWorkloadTests {
    @Test("leave a file that passes verification after every commit", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func everyCommitVerifies(seed: UInt64) throws {
        let realm = try ScratchRealm(clusterShift: seed % 2 == 0 ? 2 : 8)
        var workload = StorageWorkload(seed: seed)
        try workload.makeSchema(realm.transaction)
        try realm.commit()
        for commit in 0..<12 {
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

    @Test("that are rolled back leave nothing behind", arguments: [11, 12, 13] as [UInt64])
    func rollbackLeavesNothing(seed: UInt64) throws {
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
