// SPDX-License-Identifier: Apache-2.0

/// A read-only mapping of a whole file. Nothing is read at this point; the system pages bytes in on first touch.
///
/// `@unchecked Sendable`: both fields are set once.
package final class FileMapping: @unchecked Sendable {
    let address: UnsafeRawPointer
    package let byteCount: Int

    /// Maps `byteCount` bytes (more than 0) of an open file.
    package init(descriptor: Int32, byteCount: Int) throws(StorageError) {
        address = UnsafeRawPointer(try System.mapReadOnly(descriptor, byteCount: byteCount))
        self.byteCount = byteCount
    }

    /// The whole file; valid while the mapping is alive.
    package var bytes: ByteView { ByteView(start: address.assumingMemoryBound(to: UInt8.self), count: byteCount) }

    deinit { System.unmap(UnsafeMutableRawPointer(mutating: address), byteCount: byteCount) }
}
