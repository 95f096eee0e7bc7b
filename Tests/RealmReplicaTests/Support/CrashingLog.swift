// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmReplica
import RealmStorage

/// Stores records as an owner does, and lets commits fail after that.
final class CrashingLog: CommitLog {
    private let owner: RealmOwner

    init(_ owner: RealmOwner) { self.owner = owner }

    var maximumByteCount: Int { owner.maximumByteCount }
    // Commits take the same way to the file as those of the owner.
    var isDurable: Bool { owner.isDurable }
    var isEncrypted: Bool { owner.isEncrypted }

    func append(_ record: CommitRecord) throws(StorageError) { try append(record, meanwhile: {}) }

    func append(_ record: CommitRecord, meanwhile work: () -> Void) throws(StorageError) {
        try owner.append(record, meanwhile: work)
        throw .refused(.outcomeUnknown)
    }

    func takeBack(_ record: CommitRecord) -> Bool { false }
    func didCommit(_ record: CommitRecord) {}
    func requireReplaceable() {}
    func didReplaceFile() {}
}
