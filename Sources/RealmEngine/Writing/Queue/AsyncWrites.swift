// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmStorage

/// Asynchronous writes, by the ids under which their outcome can be asked for.
///
/// A write that is over is remembered for `WriteLimits.rememberedTime`, unless there are too many of them or they take too much
/// memory. What exactly is remembered is up to the caller, as bytes.
package final class AsyncWrites: Sendable {
    /// How far a write is, or what became of it.
    package enum State: Sendable {
        /// It waits for the writer.
        case queued
        /// It has begun and can no longer be cancelled.
        case running
        /// Durable, with the bytes that the caller wants to have remembered.
        case committed([UInt8])
        /// Failed and undone, with the bytes that the caller wants to have remembered.
        case failed([UInt8])
        /// It was cancelled before it began.
        case cancelled

        /// The memory that remembering it takes.
        fileprivate var byteCount: Int {
            switch self {
            case .committed(let bytes), .failed(let bytes): return bytes.count
            case .queued, .running, .cancelled: return 0
            }
        }

        /// Whether nothing about the write will change any more.
        var isOver: Bool {
            switch self {
            case .queued, .running: return false
            case .committed, .failed, .cancelled: return true
            }
        }
    }

    /// One write.
    private struct Entry {
        /// Who may ask for it.
        let owner: String
        /// How far it is.
        var state: State
        /// The hold by which it is cancelled; nil once it is over.
        var ticket: WriteTicket?
        /// When it is forgotten, once it is over.
        var until = Instant.distantFuture
    }

    /// What the lock guards.
    private struct Entries {
        /// By the id of the write.
        var byID: [String: Entry] = [:]
        /// Ids of writes that are over, oldest first.
        var finished: Deque<String> = []
        /// What they are remembered with.
        var bytes = 0
    }

    /// How long, how many and how much is remembered.
    private let limits: WriteLimits
    /// All writes; the lock is a leaf.
    private let entries = RankedMutex(.leaf, Entries())

    /// Remembers writes within `limits`.
    init(_ limits: WriteLimits) { self.limits = limits }

    /// The id of a new write.
    func register(owner: String) -> String {
        let id = RandomName.make()
        entries.withLock { $0.byID[id] = Entry(owner: owner, state: .queued) }
        return id
    }

    /// Notes by what a write is cancelled.
    func setTicket(_ ticket: WriteTicket, of id: String) {
        entries.withLock { entries in
            guard entries.byID[id]?.state.isOver == false else { return }
            entries.byID[id]?.ticket = ticket
        }
    }

    /// Notes how far a write is; a write that is over stays as it is.
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

    /// Takes out the writes that are over for too long, or are too many. Returns them, to be released without the lock.
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

    /// What became of a write; nil when it never was, is forgotten, or has another owner. `owner` nil asks for all.
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
