// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import Synchronization

@testable import RealmReplica

/// A log in memory that obeys the rules of one, and does to records that are read what a test asks for.
final class MemoryLog: RealmLog {
    struct Record: Sendable {
        let lineage: String
        let version: UInt64
        let checksum: LogChecksum
        let bytes: [UInt8]
    }

    struct Realm: Sendable {
        var head: LogHead
        var records: [Record] = []
        var bases: [(base: LogBase, bytes: [UInt8])] = []
    }

    struct State: Sendable {
        var realms: [String: Realm] = [:]
        var isDown = false
        var reads = 0
    }

    let state = Mutex(State())
    /// Changes the records that are read next.
    let disturbance = Mutex<(@Sendable ([[UInt8]]) -> [[UInt8]])?>(nil)

    private func requireUp() throws(StorageError) {
        guard !state.withLock({ $0.isDown }) else { throw .refused(.logUnavailable("it is down")) }
    }

    func perform(_ call: LogCall, until deadline: Instant) -> LogReply {
        state.withLock { state in
            guard !state.isDown else { return .unsent("it is down") }
            guard var realm = state.realms[call.realm] else {
                switch call.request {
                case .head, .confirm, .barrier: return .head(nil)
                case .release: return .stored
                default: return .conflict
                }
            }
            defer { state.realms[call.realm] = realm }
            return MemoryLog.perform(call, &realm)
        }
    }

    private static func perform(_ call: LogCall, _ realm: inout Realm) -> LogReply {
        switch call.request {
        case .head, .confirm: return .head(realm.head)
        case .claim(let epoch):
            guard realm.head.epoch == epoch else { return .conflict }
            realm.head.epoch += 1
            realm.head.owner = call.owner
            return .claimed(realm.head)
        case .barrier:
            if realm.head.owner == call.owner { realm.head.epoch += 1 }
            return .head(realm.head)
        case .append(let head, let entry):
            guard realm.head == head, head.owner == call.owner else { return .conflict }
            realm.records.append(
                Record(lineage: head.lineage, version: entry.version, checksum: entry.checksum, bytes: call.bytes))
            realm.head.version = entry.version
            realm.head.checksum = entry.checksum
            return .stored
        case .checksum(let lineage, let version):
            return .checksum(realm.records.last { $0.lineage == lineage && $0.version == version }?.checksum)
        case .release:
            if realm.head.owner == call.owner { realm.head.owner = .unowned }
            return .stored
        }
    }

    private func contents(_ descriptor: Int32, _ count: Int) throws(StorageError) -> [UInt8] {
        try System.read(descriptor, at: 0, byteCount: count)
    }

    func create(_ head: LogHead, of realm: String, base: LogBase, from descriptor: Int32) throws(StorageError) -> Bool {
        try requireUp()
        let bytes = try contents(descriptor, base.byteCount)
        return state.withLock { state in
            guard state.realms[realm] == nil else { return false }
            state.realms[realm] = Realm(head: head, bases: [(base, bytes)])
            return true
        }
    }

    func restart(
        _ head: LogHead, over former: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool {
        try requireUp()
        let bytes = try contents(descriptor, base.byteCount)
        return state.withLock { state in
            guard let found = state.realms[realm], found.head == former else { return false }
            state.realms[realm] = Realm(head: head, bases: [(base, bytes)])
            return true
        }
    }

    func drop(_ realm: String, of owner: LogOwner) throws(StorageError) -> Bool {
        try requireUp()
        return state.withLock { state in
            guard state.realms[realm]?.head.owner == owner else { return false }
            state.realms[realm] = nil
            return true
        }
    }

    func records(
        of realm: String, lineage: String, versions: ClosedRange<UInt64>, _ take: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) {
        try requireUp()
        var found = state.withLock { state in
            state.reads += 1
            return (state.realms[realm]?.records ?? []).filter { $0.lineage == lineage && versions.contains($0.version) }
                .map(\.bytes)
        }
        if let disturb = disturbance.withLock({ $0 }) { found = disturb(found) }
        for bytes in found { try take(bytes) }
    }

    func bases(of realm: String) throws(StorageError) -> [LogBase] {
        try requireUp()
        return state.withLock { state in
            (state.realms[realm]?.bases ?? []).map(\.base).reversed().sorted { $0.version > $1.version }
        }
    }

    func put(_ base: LogBase, of realm: String, from descriptor: Int32) throws(StorageError) {
        try requireUp()
        let bytes = try contents(descriptor, base.byteCount)
        state.withLock { state in
            state.realms[realm]?.bases.removeAll { $0.base.lineage == base.lineage && $0.base.version == base.version }
            state.realms[realm]?.bases.append((base, bytes))
        }
    }

    func fetch(_ base: LogBase, of realm: String, into descriptor: Int32) throws(StorageError) {
        try requireUp()
        let bytes = state.withLock { state in state.realms[realm]?.bases.first { $0.base == base }?.bytes ?? [] }
        try System.write(descriptor, bytes)
    }

    func remove(_ base: LogBase, of realm: String, whileLineage lineage: String) throws(StorageError) {
        try requireUp()
        state.withLock { state in
            guard state.realms[realm]?.head.lineage == lineage else { return }
            state.realms[realm]?.bases.removeAll { $0.base == base }
        }
    }

    func prune(_ realm: String, lineage: String, upTo version: UInt64) throws(StorageError) {
        try requireUp()
        state.withLock { state in
            guard state.realms[realm]?.head.lineage == lineage else { return }
            state.realms[realm]?.records.removeAll { $0.lineage != lineage || $0.version <= version }
        }
    }

    // MARK: - What a test does to it

    /// Whether requests are refused.
    func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    /// Begins another lineage with a version.
    func restore(_ realm: String, _ snapshot: Snapshot, lineage: String, key: EncryptionKey? = nil) throws {
        let chain = try RecordChain(realm: realm, epoch: lineage, base: snapshot.version)
        let (base, file) = try LogBases.copy(snapshot, at: chain, key: key)
        defer { System.close(file) }
        let bytes = try contents(file, base.byteCount)
        state.withLock { state in
            guard let epoch = state.realms[realm]?.head.epoch else { return }
            let head = LogHead(
                lineage: lineage, version: base.version, checksum: base.checksum, epoch: epoch + 1, owner: .unowned)
            state.realms[realm] = Realm(head: head, bases: [(base, bytes)])
        }
    }

    /// Loses the records after a version, as a log that fails over without having waited for its standbys would.
    func lose(_ realm: String, after version: UInt64) {
        state.withLock { state in
            guard var found = state.realms[realm] else { return }
            found.records.removeAll { $0.version > version }
            guard let last = found.records.last else { return }
            found.head.version = last.version
            found.head.checksum = last.checksum
            found.head.epoch += 1
            found.head.owner = .unowned
            state.realms[realm] = found
        }
    }

    func recordCount(_ realm: String) -> Int { state.withLock { $0.realms[realm]?.records.count ?? 0 } }
}
