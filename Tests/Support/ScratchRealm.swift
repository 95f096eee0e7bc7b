// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
package import RealmStorage
import RealmVerify

/// A realm for tests of writes: every commit is verified.
package final class ScratchRealm {
    package let store: FileStore
    /// The transaction that runs now.
    package private(set) var transaction: WriteTransaction
    /// Every how many commits a file on disk is also looked at by the independent reader; 0 is never.
    package var inspectedEvery = 0
    private var commits = 0
    private let isOnDisk: Bool

    /// In memory, or at `path`.
    package init(path: String? = nil, key: EncryptionKey? = nil, clusterShift: Int = 8) throws {
        var options = FileStore.Options()
        options.clusterShift = clusterShift
        options.createsMissingFile = true
        isOnDisk = path != nil
        store = if let path { try FileStore.open(path: path, key: key, options) } else { try FileStore.inMemory(options) }
        transaction = try store.beginTransaction()
    }

    /// Commits, verifies the whole file, and begins the next transaction. Returns the new version.
    @discardableResult
    package func commit() throws -> Snapshot {
        let snapshot = try transaction.commit()
        transaction = try store.beginTransaction()
        let report = snapshot.verify()
        guard report.isClean else { throw Failure(problems: report.errors) }
        commits += 1
        if isOnDisk, inspectedEvery > 0, commits % inspectedEvery == 0,
            let error = FileInspector.shared?.errors(store.path, clusterShift: store.options.clusterShift)
        {
            throw Failure(problems: ["inspector: " + error])
        }
        return snapshot
    }

    /// Lets go of the file.
    package func close() throws {
        transaction.end()
        try store.close()
    }

    package struct Failure: Error, CustomStringConvertible {
        package let problems: [String]
        package var description: String { problems.joined(separator: "\n") }
    }
}
