// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// Notices that an open file has been removed, replaced, shortened or written to by another program.
///
/// - The path still names the file that was opened, and the lock file still has its name.
/// - Its size, the time of its last change and its first bytes are those that this process saw or
///   wrote last.
/// - No part of it was missing when it was read.
///
/// One check costs a system call or two. While this process writes, only the writer checks, because it alone knows what it has
/// written. The time of its last write is read by the first check afterwards, because reading it slows the next write down:
/// `WriteQueue` checks as soon as it is idle. Source: docs/ARCHITECTURE.md, "The life of a file that changes underneath".
package final class FileWitness: Sendable {
    /// The expected state of the file, guarded by the lock.
    private struct State: Sendable {
        /// The identity of the file that was opened, or that has replaced it.
        var identity: System.FileIdentity
        /// The size of the file in bytes.
        var byteCount: Int
        /// The time of its last change; nil when this process has written and no check has followed.
        var modified: Int64?
        /// The expected first bytes of the file.
        var bytes: [UInt8]
        /// An access to the first bytes of the file as they are.
        var head: MappedHead
        /// Whether a write is in progress, during which only the writer knows the expected state.
        var isWriting = false
        /// The number of writes of this process to the file.
        var writes = 0
    }

    /// The number of files that this process has replaced by another one of the same realm. Caches of file identities are read
    /// anew when it has grown.
    package static var replacementCount: Int { replacements.load(ordering: .acquiring) }
    private static let replacements = Atomic<Int>(0)

    /// The path at which the file was opened.
    private let path: String
    /// The lock file, which has to keep its name; nil for files that are only read.
    private let lock: OwnershipLock?
    /// The flag that states whether a part of the mapped file was missing when it was read.
    package let loss: FileLoss
    /// The expected state of the file, for any thread.
    private let state: RankedMutex<State>

    /// Makes a witness that expects the file to stay as `facts` and `head` describe it.
    ///
    /// - Parameters:
    ///   - path: The path at which the file was opened.
    ///   - facts: Its identity, size and times.
    ///   - head: An access to its first bytes.
    ///   - loss: The flag for missing parts of its mapping.
    ///   - lock: The ownership of the file; nil if it is only read.
    init(path: String, _ facts: System.FileFacts, _ head: MappedHead, _ loss: FileLoss, lock: OwnershipLock? = nil) {
        self.path = path
        self.lock = lock
        self.loss = loss
        state = RankedMutex(
            .leaf,
            State(
                identity: facts.place.identity, byteCount: facts.place.byteCount, modified: facts.modified, bytes: head.bytes,
                head: head))
    }

    /// The identity of the file, which changes when this process replaces it by a compact one.
    package var identity: System.FileIdentity { state.withLock { $0.identity } }

    /// The first bytes of the file in their present state.
    var head: [UInt8] { state.withLock { $0.head }.bytes }

    // MARK: - Looking

    /// Checks the file; any thread may call it. While this process writes, only missing parts are reported.
    ///
    /// - Throws: `.refused(.fileChanged)` when the file is not in its expected state.
    package func checkFile() throws(StorageError) {
        try requireWhole()
        let seen = state.withLock { $0 }
        guard !seen.isWriting else { return }
        do throws(StorageError) {
            let modified = try requireUnchanged(seen)
            // The file must have this time from here on, until this process writes.
            state.withLock { state in
                if !state.isWriting, state.writes == seen.writes { state.modified = modified }
            }
        } catch {
            // A write of this process in the meantime explains the difference.
            let isCurrent = state.withLock { !$0.isWriting && $0.writes == seen.writes }
            if isCurrent { throw error }
        }
    }

    /// Checks everything and returns the time of the last change.
    private func requireUnchanged(_ seen: State) throws(StorageError) -> Int64 {
        let facts = try FileWitness.present { () throws(StorageError) in try System.facts(path: path) }
        try require(facts.place, seen.identity, seen.byteCount)
        guard seen.modified == nil || facts.modified == seen.modified, seen.head.bytes == seen.bytes else {
            throw FileWitness.changed("another program has written to it")
        }
        try requireWhole()
        return facts.modified
    }

    /// Checks that the path leads to the file, that it has its expected size, and that no other
    /// process can own it. The time is not read.
    private func requireNamed(byteCount: Int) throws(StorageError) {
        try require(
            try FileWitness.present { () throws(StorageError) in try System.place(path: path) }, identity, byteCount)
    }

    /// Throws unless a file is the one that was opened and has the expected size.
    private func require(
        _ place: System.FilePlace, _ identity: System.FileIdentity, _ byteCount: Int
    ) throws(StorageError) {
        guard place.identity == identity else { throw FileWitness.changed("another file has taken its place") }
        guard place.byteCount == byteCount else {
            throw FileWitness.changed("it has \(place.byteCount) bytes, and had \(byteCount)")
        }
        if let lock, !lock.isNamed { throw FileWitness.changed("the lock file next to it was removed") }
    }

    /// Turns an error in finding the file into one that states the change.
    private static func present<Found>(_ find: () throws(StorageError) -> Found) throws(StorageError) -> Found {
        do throws(StorageError) {
            return try find()
        } catch {
            throw changed("it cannot be found where it was: \(error)")
        }
    }

    /// Throws when a part of the file was missing when it was read.
    private func requireWhole() throws(StorageError) {
        guard !loss.isSet else { throw FileWitness.lost }
    }

    /// The error for a part of the file that was missing when it was read.
    static let lost = changed("a part of it was missing when it was read")

    /// Makes the error for a file that another program has changed; `reason` states how.
    static func changed(_ reason: String) -> StorageError {
        .refused(.fileChanged("the file has changed underneath: \(reason)"))
    }

    // MARK: - For the writer

    /// Begins a write: until it ends, only the writer checks the file.
    ///
    /// - Throws: `.refused(.fileChanged)` when the file is not in its expected state.
    func beginWriting() throws(StorageError) {
        let seen = state.withLock { state in
            state.isWriting = true
            return state
        }
        do throws(StorageError) {
            // The time is read only if it was read since the last write: a process that writes all the
            // time is not slowed down.
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

    /// Checks a file that this process is writing to: its size, its first bytes and its name.
    ///
    /// - Parameters:
    ///   - byteCount: The size that it must have.
    ///   - bytes: The first bytes as they were written.
    ///   - head: An access to its first bytes.
    /// - Throws: `.refused(.fileChanged)` otherwise.
    func requireOwn(byteCount: Int, bytes: [UInt8], _ head: MappedHead) throws(StorageError) {
        try requireNamed(byteCount: byteCount)
        guard head.bytes == bytes else { throw FileWitness.changed("another program has written to it") }
        try requireWhole()
    }

    /// Ends a write that is durable, after checking that it is in the file that has the name; this
    /// is the expected state from then on.
    ///
    /// - Throws: `.refused(.fileChanged)` when the file is another one or has other contents.
    func endWriting(byteCount: Int, bytes: [UInt8], _ head: MappedHead) throws(StorageError) {
        do throws(StorageError) {
            try requireOwn(byteCount: byteCount, bytes: bytes, head)
            note(byteCount, bytes, head)
        } catch {
            state.withLock { $0.isWriting = false }
            throw error
        }
    }

    /// Ends a write that failed: the present state of the file is the expected one from then on,
    /// unless another file has its name.
    func abandonWriting(byteCount: Int, _ head: MappedHead) {
        if (try? requireNamed(byteCount: byteCount)) != nil { return note(byteCount, head.bytes, head) }
        state.withLock { $0.isWriting = false }
    }

    /// Ends a write that has replaced the file by another one, which is the expected one from then on.
    ///
    /// - Parameters:
    ///   - facts: The identity and the size of the new file.
    ///   - head: An access to its first bytes.
    func endReplacing(_ facts: System.FileFacts, _ head: MappedHead) {
        note(facts.place.byteCount, head.bytes, head, identity: facts.place.identity)
        FileWitness.replacements.add(1, ordering: .acquiringAndReleasing)
    }

    /// Stores the state after a write as the expected one.
    private func note(
        _ byteCount: Int, _ bytes: [UInt8], _ head: MappedHead, identity: System.FileIdentity? = nil
    ) {
        // The memory of an earlier, shorter range is released outside of the lock.
        let earlier = state.withLock { state in
            let earlier = state
            state = State(
                identity: identity ?? earlier.identity, byteCount: byteCount, modified: nil, bytes: bytes, head: head,
                writes: earlier.writes + 1)
            return earlier
        }
        withExtendedLifetime(earlier) {}
    }
}
