// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import Synchronization

@testable import RealmReplica

/// A log that takes no requests when it is told so.
final class SwitchedLog: RealmLog {
    private let log: PostgresLog
    let isDown = Mutex(false)

    init(_ log: PostgresLog) { self.log = log }

    func perform(_ call: LogCall, until deadline: Instant) -> LogReply {
        isDown.withLock { $0 } ? .unsent("it is down") : log.perform(call, until: deadline)
    }

    func heads(of realms: [String], confirmedFor node: String?) throws(StorageError) -> [ByteText: LogHead] {
        guard !isDown.withLock({ $0 }) else { throw .refused(.logUnavailable("it is down")) }
        return try log.heads(of: realms, confirmedFor: node)
    }

    func create(_ head: LogHead, of realm: String, base: LogBase, from descriptor: Int32) throws(StorageError) -> Bool {
        try log.create(head, of: realm, base: base, from: descriptor)
    }

    func restart(
        _ head: LogHead, over former: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool { try log.restart(head, over: former, of: realm, base: base, from: descriptor) }

    func drop(_ realm: String, of owner: LogOwner) throws(StorageError) -> Bool { try log.drop(realm, of: owner) }

    func records(
        of realm: String, lineage: String, versions: ClosedRange<UInt64>, _ take: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) { try log.records(of: realm, lineage: lineage, versions: versions, take) }

    func bases(of realm: String) throws(StorageError) -> [LogBase] { try log.bases(of: realm) }
    func put(_ base: LogBase, of realm: String, from descriptor: Int32) throws(StorageError) {
        try log.put(base, of: realm, from: descriptor)
    }
    func fetch(_ base: LogBase, of realm: String, into descriptor: Int32) throws(StorageError) {
        try log.fetch(base, of: realm, into: descriptor)
    }
    func remove(_ base: LogBase, of realm: String, whileLineage lineage: String) throws(StorageError) {
        try log.remove(base, of: realm, whileLineage: lineage)
    }
    func prune(_ realm: String, lineage: String, upTo version: UInt64) throws(StorageError) {
        try log.prune(realm, lineage: lineage, upTo: version)
    }
}
