// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The right to write to a store, which one transaction at a time has. It ends with `commit`,
/// `rollBack`, or when it is dropped.
///
/// `@unchecked Sendable`: it may be passed from thread to thread, but is used by one at a time.
package final class StoreWrite: @unchecked Sendable {
    /// The version that the transaction started from.
    package let base: Snapshot
    /// The nodes of the transaction, committed and new.
    package let nodes: WriteSpace
    /// The store, to which the end of the transaction is reported.
    private let owner: any StoreWrite.Owner
    /// The memory of the new nodes, which goes back to the store at the end.
    private let arena: NodeArena
    /// Whether the transaction is still running; false after a commit or a rollback.
    private var isRunning = true

    /// Makes the right to write to `owner`, with new nodes in `arena`; the owner has made sure that it is the only one.
    init(_ owner: any StoreWrite.Owner, base: Snapshot, arena: NodeArena) {
        self.owner = owner
        self.base = base
        self.arena = arena
        nodes = WriteSpace(base: base.space, arena: arena)
    }

    deinit { rollBack() }

    /// Makes the next version, and returns it once it is durable.
    ///
    /// After an error nothing has changed and the transaction still runs: it may be tried again or rolled back. If
    /// `FileStore.acceptsWrites` is false then, whether it was committed is known only when the file is opened again.
    ///
    /// - Parameters:
    ///   - notes: The work of the transaction, for the record of the commit.
    package func commit(
        names: Ref, tables: Ref, notes: CommitNotes = CommitNotes()
    ) throws(StorageError) -> Snapshot {
        guard isRunning else { throw .refused(.notWritable("the transaction has ended")) }
        let snapshot = try owner.commit(self, names: names, tables: tables, notes: notes)
        rollBack()
        return snapshot
    }

    /// Replaces the file by a compact copy, which is brought up to date before. The transaction continues in the old file, so it
    /// must have no changes, and end without a commit.
    ///
    /// - Returns: The newest version in the new file.
    func replaceFile(by copy: CompactCopy) throws(StorageError) -> Snapshot {
        guard isRunning else { throw .refused(.notWritable("the transaction has ended")) }
        return try owner.replaceFile(by: copy, base: base)
    }

    /// Discards all changes that are not committed, and ends the transaction. After a commit, or a
    /// second time, it does nothing.
    package func rollBack() {
        guard isRunning else { return }
        isRunning = false
        arena.reset()
        owner.endWrite(arena)
    }
}

extension StoreWrite {
    /// The store of a write transaction, as the transaction uses it.
    ///
    /// It is called by the thread that writes, at the end of a transaction.
    protocol Owner: AnyObject, Sendable {
        /// Makes the next version from these table names and tables, and returns it once it is durable.
        func commit(_ write: StoreWrite, names: Ref, tables: Ref, notes: CommitNotes) throws(StorageError) -> Snapshot

        /// Replaces the file by a compact copy, and makes the version in it the newest one. It is called
        /// while the transaction has no changes.
        func replaceFile(by copy: CompactCopy, base: Snapshot) throws(StorageError) -> Snapshot

        /// Ends the transaction, so that the next one can begin; its memory may be used again.
        func endWrite(_ arena: NodeArena)
    }
}
