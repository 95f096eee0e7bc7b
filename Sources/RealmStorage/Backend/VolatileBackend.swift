// SPDX-License-Identifier: Apache-2.0

/// A backend whose changes are memory, and gone with it.
package protocol VolatileBackend: StorageBackend {
    /// The memory that shows what there is now.
    var current: ReservedMemory { get }
}

extension VolatileBackend {
    package func memory() -> ReservedMemory { current }

    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= byteCount - offset, "a write at \(offset) beyond \(byteCount) bytes")
        current.store(bytes, at: offset)
    }

    package func sync(_ scope: SyncScope) throws(StorageError) {}

    package func close() {}
}
