// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmStorage

/// Writes that nobody waits for, by the ids under which their fate can be asked.
package final class AsyncWrites: Sendable {
    package enum State: Sendable {
        case queued
        case running
        /// Durable, with the bytes that the caller wants to have remembered.
        case committed([UInt8])
        /// Failed and undone, with the bytes that the caller wants to have remembered.
        case failed([UInt8])
        case cancelled

        fileprivate var byteCount: Int {
            switch self {
            case .committed(let bytes), .failed(let bytes): return bytes.count
            case .queued, .running, .cancelled: return 0
            }
        }

        var isOver: Bool {
            switch self {
            case .queued, .running: return false
            case .committed, .failed, .cancelled: return true
            }
        }
    }

    private struct Entry {
        let owner: String
        var state: State
        var ticket: WriteTicket?
        /// When it is forgotten, once it is over.
        var until = Instant.distantFuture
    }

    private struct Entries {
        var byID: [String: Entry] = [:]
        /// Ids of writes that are over, oldest first.
        var finished: Deque<String> = []
        /// What they are remembered with.
        var bytes = 0
    }

    private let limits: WriteLimits
    private let entries = RankedMutex(.leaf, Entries())

    init(_ limits: WriteLimits) { self.limits = limits }

    /// The id of a new write.
    func register(owner: String) -> String {
        let id = RandomName.make()
        entries.withLock { $0.byID[id] = Entry(owner: owner, state: .queued) }
        return id
    }

    func setTicket(_ ticket: WriteTicket, of id: String) {
        entries.withLock { entries in
            guard entries.byID[id]?.state.isOver == false else { return }
            entries.byID[id]?.ticket = ticket
        }
    }

    func setState(_ state: State, of id: String) {
        // What the write held, and what is forgotten, goes after the lock is open again.
        let dropped = entries.withLock { entries -> ([Entry], WriteTicket?) in
            guard var entry = entries.byID[id], !entry.state.isOver else { return ([], nil) }
            let ticket = entry.ticket
            entry.state = state
            if state.isOver {
                entry.until = Instant.now().adding(limits.rememberedTime)
                entry.ticket = nil
                entries.finished.append(id)
                entries.bytes += state.byteCount
            }
            entries.byID[id] = entry
            return (forget(&entries), ticket)
        }
        withExtendedLifetime(dropped) {}
    }

    private func forget(_ entries: inout Entries) -> [Entry] {
        let now = Instant.now()
        var dropped: [Entry] = []
        while let oldest = entries.finished.first,
            entries.finished.count > limits.rememberedCount || (entries.byID[oldest]?.until ?? now) <= now
                || (entries.bytes > limits.rememberedBytes && entries.finished.count > 1)
        {
            if let entry = entries.byID.removeValue(forKey: oldest) {
                entries.bytes -= entry.state.byteCount
                dropped.append(entry)
            }
            entries.finished.removeFirst()
        }
        return dropped
    }

    /// What became of a write; nil when it never was, is forgotten, or is somebody else's. `owner` nil asks for all.
    package func state(_ id: String, owner: String?) -> State? {
        entries.withLock { entries in
            guard let entry = entries.byID[id], owner == nil || entry.owner == owner, entry.until > Instant.now() else {
                return nil
            }
            return entry.state
        }
    }

    /// Takes a write back. Nil when there is none; false when it has begun.
    package func cancel(_ id: String, owner: String?) -> Bool? {
        guard let state = state(id, owner: owner) else { return nil }
        if case .cancelled = state { return true }
        let ticket = entries.withLock { $0.byID[id]?.ticket }
        return ticket?.cancel() ?? false
    }
}
