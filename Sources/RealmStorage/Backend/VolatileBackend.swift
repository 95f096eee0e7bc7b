// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A backend whose changes are in memory, and are lost with it.
///
/// Writing is copying, and there is nothing to sync. Realms in memory and trial runs on a file share this.
package protocol VolatileBackend: StorageBackend {
    /// The memory that shows the present contents.
    var current: ReservedMemory { get }
}

/// The operations that are the same for all files in memory.
extension VolatileBackend {
    /// Returns the memory that shows the present contents.
    package func memory() -> ReservedMemory { current }

    /// Copies `bytes` into the memory; a write beyond the end of the file traps.
    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= byteCount - offset, "a write at \(offset) beyond \(byteCount) bytes")
        current.store(bytes, at: offset)
    }

    /// Does nothing, as there is no disk to wait for.
    package func sync(_ scope: SyncScope) throws(StorageError) {}

    /// Does nothing, as memory is released with its last reader.
    package func close() {}
}
