// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmStorage

/// Keeps the asynchronous writes of a database under the ids by which clients request their outcome.
///
/// A finished write is remembered for `WriteLimits.rememberedTime`, unless there are too many of them or
/// their results take too much memory. The caller decides what is remembered, as bytes. All threads may
/// use it.
package final class AsyncWrites: Sendable {
    /// The progress or the outcome of a write.
    package enum State: Sendable {
        /// The write waits for the writer.
        case queued
        /// The write has begun and can no longer be cancelled.
        case running
        /// The write is durable, with the bytes that the caller wants to have remembered.
        case committed([UInt8])
        /// The write failed and was rolled back, with the bytes that the caller wants to have remembered.
        case failed([UInt8])
        /// The write was cancelled before it began.
        case cancelled

        /// The memory in bytes that remembering the state takes.
        fileprivate var byteCount: Int {
            switch self {
            case .committed(let bytes), .failed(let bytes): return bytes.count
            case .queued, .running, .cancelled: return 0
            }
        }

        /// Whether the state is final.
        var isOver: Bool {
            switch self {
            case .queued, .running: return false
            case .committed, .failed, .cancelled: return true
            }
        }
    }

    /// One asynchronous write.
    private struct Entry {
        /// The principal that may request the state of the write.
        let owner: String
        /// The progress or the outcome.
        var state: State
        /// Cancels the write, and returns whether it did; nil when it has finished.
        var cancel: (@Sendable () -> Bool)?
        /// The instant at which a finished write is forgotten.
        var until = Instant.distantFuture
    }

    /// The register of writes with the order in which finished ones are forgotten; the lock guards
    /// it.
    private struct Entries {
        /// The writes by their ids.
        var byID: [ByteText: Entry] = [:]
        /// The ids of finished writes, oldest first.
        var finished: Deque<String> = []
        /// The memory in bytes that the results of finished writes take.
        var bytes = 0
    }

    /// The limits of time, number and memory.
    private let limits: WriteLimits
    /// All writes that are known; the lock is a leaf.
    private let entries = RankedMutex(.leaf, Entries())

    /// Makes an empty register.
    init(_ limits: WriteLimits) { self.limits = limits }

    /// Registers a new write, and returns its random id.
    ///
    /// - Parameter owner: The principal that may request its state.
    func register(owner: String) -> String {
        let id = RandomName.make()
        entries.withLock { $0.byID[id] = Entry(owner: owner, state: .queued) }
        return id
    }

    /// Registers something else than a write of its own, whose outcome is kept in the same way.
    ///
    /// - Parameter owner: The principal that may request its state.
    package func beginOperation(owner: String) -> AsyncOperation { AsyncOperation(owner: owner, self) }

    /// Stores how a write is cancelled: a function that returns whether it did.
    func setCancellation(of id: String, _ cancel: @escaping @Sendable () -> Bool) {
        entries.withLock { entries in
            guard entries.byID[id]?.state.isOver == false else { return }
            entries.byID[id]?.cancel = cancel
        }
    }

    /// Sets the state of a write; a final state does not change again.
    func setState(_ state: State, of id: String) {
        // What the write held, and what is forgotten, is released after the lock.
        let dropped = entries.withLock { entries -> ([Entry], (@Sendable () -> Bool)?) in
            guard var entry = entries.byID[id], !entry.state.isOver else { return ([], nil) }
            let cancel = entry.cancel
            entry.state = state
            if state.isOver {
                entry.until = Instant.now().adding(limits.rememberedTime)
                entry.cancel = nil
                entries.finished.append(id)
                entries.bytes += state.byteCount
            }
            entries.byID[id] = entry
            return (forget(&entries), cancel)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Removes finished writes that are too old, too many or too large, and returns them, to be released
    /// without the lock.
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

    /// Returns the state of a write.
    ///
    /// - Parameters:
    ///   - id: The id of the write.
    ///   - owner: The principal of the request; nil for access to the writes of all owners.
    /// - Returns: The state; nil when the write is unknown, forgotten or has another owner.
    package func state(_ id: String, owner: String?) -> State? {
        entries.withLock { entries in
            guard let entry = entries.byID[id], owner == nil || entry.owner == owner, entry.until > Instant.now() else {
                return nil
            }
            return entry.state
        }
    }

    /// Cancels a write that has not begun.
    ///
    /// - Parameters:
    ///   - id: The id of the write.
    ///   - owner: The principal of the request; nil for access to the writes of all owners.
    /// - Returns: True when the write is cancelled, false when it has begun or finished, nil when there
    ///   is no such write.
    package func cancel(_ id: String, owner: String?) -> Bool? {
        guard let state = state(id, owner: owner) else { return nil }
        if case .cancelled = state { return true }
        let cancel = entries.withLock { $0.byID[id]?.cancel }
        return cancel?() ?? false
    }
}
