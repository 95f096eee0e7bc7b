// SPDX-License-Identifier: Apache-2.0

import RealmReplica

/// The log of one realm as one server knows it. A write is known by a number that no other write has.
struct ModelLog: Hashable {
    /// The writes that made the versions 2, 3 and so on. It is the whole history; which records are left is told by `pruned`.
    var values: [UInt8] = []
    /// Up to which version records were deleted.
    var pruned = 1
    var epoch: UInt8 = 1
    /// The owner: the number of an incarnation, 0 for nobody.
    var owner: UInt8 = 0

    var version: Int { values.count + 1 }

    var head: LogHead {
        LogHead(
            lineage: "l", version: UInt64(version), checksum: ModelLog.checksum(values.last ?? 0), epoch: UInt64(epoch),
            owner: ModelLog.owner(owner))
    }

    static func checksum(_ value: UInt8) -> LogChecksum {
        LogChecksum([value] + [UInt8](repeating: 0, count: LogChecksum.byteCount - 1)) ?? zero
    }

    private static let zero = ModelLog().head.checksum

    static func owner(_ number: UInt8) -> LogOwner { owners[Int(number)] }
    private static let owners = [LogOwner.unowned] + (1..<64).map { LogOwner(node: "", token: "\($0)") }
}

/// A request that was sent.
struct ModelMessage: Hashable {
    /// The process that has sent it, and its incarnation then.
    let process: Int
    let incarnation: UInt8
    /// The write, for an append.
    let value: UInt8
    let request: LogRequest
    /// Whether the process waits for the reply.
    var isAwaited = true
}

/// A transaction that the server has carried out and that waits to be durable. It holds the lock of the head.
struct ModelTransaction: Hashable {
    let message: ModelMessage
    let reply: LogReply
    var result: ModelLog
}

/// A server and its standby, of one realm.
struct ModelServer: Hashable {
    /// What can be read.
    var visible = ModelLog()
    /// What a failover cannot lose.
    var durable = ModelLog()
    /// What runs; a log that checks before it replicates may have two.
    var running: [ModelTransaction] = []

    /// What a request comes to: a reply at once, or a transaction.
    enum Effect {
        case reply(LogReply)
        case transaction(ModelTransaction)
    }

    func effect(of message: ModelMessage, _ flaw: ModelFlaw?) -> Effect {
        var log = visible
        func commit(_ reply: LogReply) -> Effect {
            .transaction(ModelTransaction(message: message, reply: reply, result: log))
        }
        switch message.request {
        case .head, .confirm: return .reply(.head(log.head))
        case .checksum(_, let version):
            let index = Int(version) - 2
            guard Int(version) > log.pruned, log.values.indices.contains(index) else { return .reply(.checksum(nil)) }
            return .reply(.checksum(ModelLog.checksum(log.values[index])))
        case .barrier:
            if flaw == .barrierOnlyReads { return .reply(.head(log.head)) }
            if log.owner == message.incarnation, flaw != .barrierKeepsEpoch { log.epoch += 1 }
            return commit(.head(log.head))
        case .claim(let epoch):
            guard UInt64(log.epoch) == epoch else { return .reply(.conflict) }
            log.epoch += 1
            log.owner = message.incarnation
            return commit(.claimed(log.head))
        case .release:
            guard log.owner == message.incarnation else { return .reply(.stored) }
            log.owner = 0
            return commit(.stored)
        case .append(let head, let entry):
            guard allows(entry, after: head, message, flaw) else { return .reply(.conflict) }
            log.store(message.value, at: Int(entry.version))
            return commit(.stored)
        }
    }

    private func allows(_ entry: LogRequest.Entry, after head: LogHead, _ message: ModelMessage, _ flaw: ModelFlaw?) -> Bool {
        if flaw == .fenceOfRecords {
            let isFree = Int(entry.version) <= visible.pruned || Int(entry.version) > visible.version
            return isFree && Int(entry.version) <= visible.version + 1
        }
        return visible.head == head && visible.owner == message.incarnation
    }
}

extension ModelLog {
    /// Stores a write as a version; a sound log has none there.
    mutating func store(_ value: UInt8, at version: Int) {
        if values.indices.contains(version - 2) {
            values[version - 2] = value
        } else {
            values.append(value)
        }
    }
}

/// What is wrong with a log or an owner, so that the checker has to find it.
enum ModelFlaw: CaseIterable {
    /// The condition is checked before the record is replicated, and two are replicated at a time.
    case checksBeforeReplicating
    /// The fence is that no record has the number, and records are pruned.
    case fenceOfRecords
    /// The owner cancels an append at its deadline, and takes the answer to that.
    case cancels
    /// The owner takes an append without an answer as not stored.
    case unknownIsNotStored
    /// The barrier commits nothing.
    case barrierOnlyReads
    /// The barrier leaves the epoch, so an earlier append may still be stored after it.
    case barrierKeepsEpoch
    /// The owner answers the first write after a claim by another as if it were still the owner: it does not ask when the head is not its own.
    case conflictIsStored
}
