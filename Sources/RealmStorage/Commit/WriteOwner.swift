// SPDX-License-Identifier: Apache-2.0

/// What a write transaction needs of the store that let it run.
///
/// Called by the thread that writes, at the end of a transaction.
protocol WriteOwner: AnyObject, Sendable {
    /// Makes the next version from these table names and tables, and returns it once it is durable.
    func commit(_ nodes: WriteSpace, names: Ref, tables: Ref, base: Snapshot) throws(StorageError) -> Snapshot

    /// Lets the next transaction begin; the memory of this one may be used again.
    func endWrite(_ arena: NodeArena)
}
