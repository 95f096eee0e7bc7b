// SPDX-License-Identifier: Apache-2.0

/// A backend whose changes are memory, and gone with it.
///
/// Writing is copying, and there is nothing to sync. Realms in memory and trial runs on a copy of a file share this.
package protocol VolatileBackend: StorageBackend {
    /// The memory that shows what there is now.
    var current: ReservedMemory { get }
}

/// What memory does for all such backends.
extension VolatileBackend {
    /// The memory that shows what there is now.
    package func memory() -> ReservedMemory { current }

    /// Copies `bytes` into the memory.
    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= byteCount - offset, "a write at \(offset) beyond \(byteCount) bytes")
        current.store(bytes, at: offset)
    }

    /// Does nothing: there is no disk to wait for.
    package func sync(_ scope: SyncScope) throws(StorageError) {}

    /// Does nothing: memory goes with its last reader.
    package func close() {}
}
