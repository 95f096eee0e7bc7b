// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A raw file that exists in memory only: that of a realm that is gone when the process ends.
///
/// `@unchecked Sendable`: all mutable fields belong to the thread that holds the write transaction.
package final class MemoryBackend: VolatileBackend, @unchecked Sendable {
    /// The size in bytes of the file that this memory takes the place of.
    package private(set) var byteCount = 0
    /// The memory that holds the file; former memory belongs to its readers.
    package private(set) var current: ReservedMemory

    /// Makes a file with the given bytes; `reservation` replaces the usual number of reserved addresses.
    package init(_ bytes: [UInt8] = [], reservation: Int? = nil) throws(StorageError) {
        current = try ReservedMemory(capacity: max(reservation ?? Reservation.ofMemory(for: bytes.count), bytes.count))
        try extend(to: bytes.count)
        ByteView.withBytes(of: bytes) { current.store($0, at: 0) }
    }

    /// Extends the file by zeros, and moves it to a wider range of addresses when the present one is full.
    package func extend(to wanted: Int) throws(StorageError) {
        guard wanted > byteCount else { return }
        if wanted > current.capacity { try move(capacity: wanted * 2) }
        try current.fill(byteCount: wanted)
        byteCount = wanted
    }

    /// Copies the file to a wider range of addresses. Readers of the old range keep it; what they read there never changes.
    private func move(capacity: Int) throws(StorageError) {
        let wider = try ReservedMemory(capacity: capacity)
        try wider.fill(byteCount: byteCount)
        wider.store(current.view(at: 0, byteCount: byteCount), at: 0)
        current = wider
    }

    /// Shortens the file to a copy of its first bytes.
    package func truncate(to wanted: Int) throws(StorageError) {
        guard wanted < byteCount else { return }
        let kept = current.view(at: 0, byteCount: wanted).array
        current = try ReservedMemory(capacity: current.capacity)
        byteCount = 0
        try extend(to: wanted)
        ByteView.withBytes(of: kept) { current.store($0, at: 0) }
    }

    /// A copy of all bytes of the file.
    package var bytes: [UInt8] { current.view(at: 0, byteCount: byteCount).array }
}
