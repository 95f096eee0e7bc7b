// SPDX-License-Identifier: Apache-2.0

/// Beginning transactions.
extension FileStore {
    /// Begins the one write transaction that may run at a time. Using `arena` again saves making a new one.
    package func beginTransaction(arena: NodeArena? = nil) throws(StorageError) -> WriteTransaction {
        try WriteTransaction(beginWrite(arena: arena))
    }
}
