// SPDX-License-Identifier: Apache-2.0

/// The right to write that one transaction at a time has. Ends with `commit`, `rollBack`, or when it is dropped.
///
/// `@unchecked Sendable`: may go from thread to thread, but is used by one at a time.
package final class StoreWrite: @unchecked Sendable {
    /// The version it started from.
    package let base: Snapshot
    /// Where its nodes are made.
    package let nodes: WriteSpace
    /// What the end of the transaction is reported to.
    private let owner: any WriteOwner
    /// The memory of the new nodes.
    private let arena: NodeArena
    /// Whether the transaction has not ended.
    private var isRunning = true

    /// The right to write to `owner`, from the version `base` on, with new nodes in `arena`.
    init(_ owner: any WriteOwner, base: Snapshot, arena: NodeArena) {
        self.owner = owner
        self.base = base
        self.arena = arena
        nodes = WriteSpace(base: base.space, arena: arena)
    }

    deinit { rollBack() }

    /// Makes the next version from these table names and tables, and returns it once it is durable.
    ///
    /// After an error nothing has changed and the transaction still runs: it may be tried again or rolled back. When
    /// `FileStore.acceptsWrites` turns false, whether it was committed is known only when the file is opened again.
    package func commit(names: Ref, tables: Ref) throws(StorageError) -> Snapshot {
        guard isRunning else { throw .refused(.notWritable("the transaction has ended")) }
        let snapshot = try owner.commit(nodes, names: names, tables: tables, base: base)
        rollBack()
        return snapshot
    }

    /// Forgets all changes that are not committed.
    ///
    /// Called again, or after a commit, it does nothing.
    package func rollBack() {
        guard isRunning else { return }
        isRunning = false
        arena.reset()
        owner.endWrite(arena)
    }
}
