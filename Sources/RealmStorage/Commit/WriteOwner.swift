// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The store of a write transaction, as the transaction uses it.
///
/// It is called by the thread that writes, at the end of a transaction.
protocol WriteOwner: AnyObject, Sendable {
    /// Makes the next version from these table names and tables, and returns it once it is durable.
    func commit(_ write: StoreWrite, names: Ref, tables: Ref, notes: CommitNotes) throws(StorageError) -> Snapshot

    /// Replaces the file by a compact copy, and makes the version in it the newest one. It is called
    /// while the transaction has no changes.
    func replaceFile(by copy: CompactCopy, base: Snapshot) throws(StorageError) -> Snapshot

    /// Ends the transaction, so that the next one can begin; its memory may be used again.
    func endWrite(_ arena: NodeArena)
}
