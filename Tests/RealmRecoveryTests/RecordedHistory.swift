// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage

@testable import RealmRecovery

/// A file that was made by a seeded history, and its whole past.
struct RecordedHistory {
    /// The options by which the file is searched.
    let options: Recovery.Options
    /// The past.
    let truth: HistoryTruth

    /// Makes a file at a path by the history of a seed.
    init(seed: UInt64, path: String, key: EncryptionKey? = nil) throws {
        var workload = HistoryWorkload(seed: seed)
        var truth = HistoryTruth()
        var storeOptions = FileStore.Options()
        storeOptions.createsMissingFile = true
        storeOptions.clusterShift = workload.shape.clusterShift
        let store = try FileStore.open(path: path, key: key, storeOptions)
        for commit in 0...workload.shape.commits {
            let transaction = try store.beginTransaction()
            if commit == 0 { try workload.makeSchema(transaction) } else { try workload.step(transaction) }
            let snapshot = try transaction.commit()
            try truth.note(
                try EvidenceFile(path: path, key: key), version: snapshot.version, clusterShift: workload.shape.clusterShift)
        }
        try store.close()
        var options = Recovery.Options()
        options.clusterShift = workload.shape.clusterShift
        self.options = options
        self.truth = truth
    }
}
