// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Keeps the asynchronous writes of a database under the ids by which clients request their outcome.
///
/// A finished write is remembered for `WriteLimits.rememberedTime`. When there are too many, the oldest of the
/// client that has most are forgotten; when their results take too much memory, what is brief of them stays. The
/// caller decides what is remembered, as bytes. All threads may use it.
package final class AsyncWrites: Sendable {
    /// The stored outcome of a finished write.
    package struct Outcome: Sendable {
        /// The whole outcome.
        package let whole: [UInt8]
        /// The short form, for when memory does not suffice for the whole.
        package let truncated: [UInt8]

        /// Makes an outcome.
        package init(whole: [UInt8], truncated: [UInt8]) {
            self.whole = whole
            self.truncated = truncated
        }

        /// The outcome that stays without memory for the whole.
        fileprivate var shortened: Outcome { Outcome(whole: truncated, truncated: truncated) }
    }

    /// The progress or the outcome of a write.
    package enum State: Sendable {
        /// The write waits for the writer.
        case queued
        /// The write has begun and can no longer be cancelled.
        case running
        /// The write is durable.
        case committed(Outcome)
        /// The write failed and was rolled back.
        case failed(Outcome)
        /// The write was cancelled before it began.
        case cancelled

        /// The memory in bytes that remembering the state takes.
        fileprivate var byteCount: Int {
            switch self {
            case .committed(let outcome), .failed(let outcome): return outcome.whole.count
            case .queued, .running, .cancelled: return 0
            }
        }

        /// The state with what stays of the outcome when there is no memory for the whole.
        fileprivate var shortened: State {
            switch self {
            case .committed(let outcome): return .committed(outcome.shortened)
            case .failed(let outcome): return .failed(outcome.shortened)
            case .queued, .running, .cancelled: return self
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

    /// The register of writes; the lock guards it.
    private struct Entries {
        var byID: [ByteText: Entry] = [:]
        /// Which finished writes are forgotten.
        var finished = KeptShares()
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
        // The resources of the write and forgotten entries are released after the lock.
        let dropped = entries.withLock { entries -> ([Entry], (@Sendable () -> Bool)?) in
            guard var entry = entries.byID[id], !entry.state.isOver else { return ([], nil) }
            let cancel = entry.cancel
            entry.state = state
            if state.isOver {
                entry.until = Instant.now().adding(limits.rememberedTime)
                entry.cancel = nil
                entries.finished.add(
                    ByteText(id), of: ByteText(entry.owner), byteCount: state.byteCount, until: entry.until)
            }
            entries.byID[id] = entry
            return (forget(&entries), cancel)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Removes finished writes that are too old or too many, shortens those that are too large, and returns what
    /// they were, to be released without the lock.
    private func forget(_ entries: inout Entries) -> [Entry] {
        var dropped = entries.finished.removeOld().compactMap { entries.byID.removeValue(forKey: $0) }
        while let name = entries.finished.removeOne(beyond: limits.rememberedCount) {
            if let entry = entries.byID.removeValue(forKey: name) { dropped.append(entry) }
        }
        while let name = entries.finished.removeDocument(beyond: limits.rememberedBytes) {
            guard let entry = entries.byID[name] else { continue }
            dropped.append(entry)
            entries.byID[name]?.state = entry.state.shortened
        }
        return dropped
    }

    /// Returns the state of a write.
    ///
    /// - Parameters:
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
