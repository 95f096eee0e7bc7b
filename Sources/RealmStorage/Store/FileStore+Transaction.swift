// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The start of transactions that know tables and objects.
extension FileStore {
    /// Begins the one write transaction that may run at a time.
    ///
    /// - Parameter arena: Memory for its nodes; nil takes that of the last transaction.
    /// - Throws: `.refused` as `beginWrite` does, `.corrupt` when the list of tables is damaged.
    package func beginTransaction(arena: NodeArena? = nil) throws(StorageError) -> WriteTransaction {
        try WriteTransaction(beginWrite(arena: arena))
    }
}
