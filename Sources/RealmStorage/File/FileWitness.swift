// SPDX-License-Identifier: Apache-2.0

/// Notices that a file that is open has been removed, replaced, shortened or written to by another program.
///
/// - The path still names the file that was opened, and the file of locks its owner's.
/// - Its size, the time of its last change and its first bytes are those that this process saw or wrote last.
/// - No part of it was gone when it was read.
///
/// One look costs a system call or two. While this process writes, only the writer looks, who knows what it has written. The
/// time of its last write is asked for by the first look afterwards, because asking slows the next write down: `WriteQueue`
/// looks as soon as it has nothing to do.
/// Source: docs/ARCHITECTURE.md, "The life of a file that changes underneath".
package final class FileWitness: Sendable {
    /// What is guarded: what the file has to look like.
    private struct State: Sendable {
        /// The size of the file in bytes.
        var byteCount: Int
        /// Nil when this process has written, and no look has followed.
        var modified: Int64?
        /// The first bytes of the file as they have to be.
        var bytes: [UInt8]
        /// Where the first bytes of the file can be read as they are.
        var head: MappedHead
        /// Whether a write is under way, during which only the writer knows what the file has to be.
        var isWriting = false
        /// How often this process has written.
        var writes = 0
    }

    /// Where the file was opened.
    private let path: String
    /// Which file was opened.
    private let identity: System.FileIdentity
    /// The lock that has to keep its name; nil for files that are only read.
    private let lock: OwnershipLock?
    /// Tells whether a part of the mapped file was gone when it was read.
    package let loss: FileLoss
    /// What the file has to look like, for any thread.
    private let state: RankedMutex<State>

    /// What `facts` and `head` say is what the file has to be from now on.
    init(path: String, _ facts: System.FileFacts, _ head: MappedHead, _ loss: FileLoss, lock: OwnershipLock? = nil) {
        self.path = path
        self.lock = lock
        self.loss = loss
        identity = facts.place.identity
        state = RankedMutex(
            .leaf, State(byteCount: facts.place.byteCount, modified: facts.modified, bytes: head.bytes, head: head))
    }

    // MARK: - Looking

    /// Throws `.refused(.fileChanged)` when the file is not what it was. While this process writes, only a loss is reported.
    package func look() throws(StorageError) {
        try requireWhole()
        let seen = state.withLock { $0 }
        guard !seen.isWriting else { return }
        do throws(StorageError) {
            let modified = try requireUnchanged(seen)
            // From now on the file may not change, until this process writes.
            state.withLock { state in
                if !state.isWriting, state.writes == seen.writes { state.modified = modified }
            }
        } catch {
            // What this process has written meanwhile is no change.
            let isCurrent = state.withLock { !$0.isWriting && $0.writes == seen.writes }
            if isCurrent { throw error }
        }
    }

    /// Returns the time of the last write.
    private func requireUnchanged(_ seen: State) throws(StorageError) -> Int64 {
        let facts = try FileWitness.present { () throws(StorageError) in try System.facts(path: path) }
        try require(facts.place, seen.byteCount)
        guard seen.modified == nil || facts.modified == seen.modified, seen.head.bytes == seen.bytes else {
            throw FileWitness.changed("another program has written to it")
        }
        try requireWhole()
        return facts.modified
    }

    /// The path leads to the file, which is as long as it was, and no other process can own it. The time is not asked for.
    private func requireNamed(byteCount: Int) throws(StorageError) {
        try require(try FileWitness.present { () throws(StorageError) in try System.place(path: path) }, byteCount)
    }

    /// Throws unless a file is the one that was opened and has the size that it had.
    private func require(_ place: System.FilePlace, _ byteCount: Int) throws(StorageError) {
        guard place.identity == identity else { throw FileWitness.changed("another file has taken its place") }
        guard place.byteCount == byteCount else {
            throw FileWitness.changed("it has \(place.byteCount) bytes, and had \(byteCount)")
        }
        if let lock, !lock.isNamed { throw FileWitness.changed("the lock file beside it was removed") }
    }

    /// Turns a failed look into an error that says so.
    private static func present<Found>(_ find: () throws(StorageError) -> Found) throws(StorageError) -> Found {
        do throws(StorageError) {
            return try find()
        } catch {
            throw changed("it cannot be found where it was: \(error)")
        }
    }

    /// Throws when a part of the file was gone when it was read.
    private func requireWhole() throws(StorageError) {
        guard !loss.isSet else { throw FileWitness.lost }
    }

    /// What is thrown when a part of the file was gone when it was read.
    static let lost = changed("a part of it was gone when it was read")

    /// An error for a file that another program has changed; `reason` says how.
    static func changed(_ reason: String) -> StorageError {
        .refused(.fileChanged("the file has changed underneath: \(reason)"))
    }

    // MARK: - For the writer

    /// Throws when the file is not what it was; else this process alone looks at it until it has written.
    func beginWriting() throws(StorageError) {
        let seen = state.withLock { state in
            state.isWriting = true
            return state
        }
        do throws(StorageError) {
            // Who writes all the time looks at the time only where it was asked for already.
            if seen.modified == nil {
                try requireOwn(byteCount: seen.byteCount, bytes: seen.bytes, seen.head)
            } else {
                _ = try requireUnchanged(seen)
            }
        } catch {
            state.withLock { $0.isWriting = false }
            throw error
        }
    }

    /// Throws when the file has another size or other first bytes than were written, or no name. Its owner is writing.
    func requireOwn(byteCount: Int, bytes: [UInt8], _ head: MappedHead) throws(StorageError) {
        try requireNamed(byteCount: byteCount)
        guard head.bytes == bytes else { throw FileWitness.changed("another program has written to it") }
        try requireWhole()
    }

    /// What was written is durable: throws unless it is in the file that has the name, which is as it was written.
    func endWriting(byteCount: Int, bytes: [UInt8], _ head: MappedHead) throws(StorageError) {
        do throws(StorageError) {
            try requireOwn(byteCount: byteCount, bytes: bytes, head)
            note(byteCount, bytes, head)
        } catch {
            state.withLock { $0.isWriting = false }
            throw error
        }
    }

    /// Writing has failed: what is there now is what the file has to be, unless it is another one.
    func abandonWriting(byteCount: Int, _ head: MappedHead) {
        if (try? requireNamed(byteCount: byteCount)) != nil { return note(byteCount, head.bytes, head) }
        state.withLock { $0.isWriting = false }
    }

    /// Takes what was written for what the file has to look like.
    private func note(_ byteCount: Int, _ bytes: [UInt8], _ head: MappedHead) {
        // The memory of an earlier, shorter range is let go of outside of the lock.
        let earlier = state.withLock { state in
            let earlier = state
            state = State(byteCount: byteCount, modified: nil, bytes: bytes, head: head, writes: earlier.writes + 1)
            return earlier
        }
        withExtendedLifetime(earlier) {}
    }
}
