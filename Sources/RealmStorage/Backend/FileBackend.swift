// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A raw file on disk.
///
/// `@unchecked Sendable`: all mutable fields belong to the thread that holds the write transaction.
package final class FileBackend: StorageBackend, @unchecked Sendable {
    /// The descriptor of the file; negative once it is closed.
    private var descriptor: Int32
    /// The size of the file in bytes, as this object knows it.
    package private(set) var byteCount: Int
    /// The range of addresses that shows the file; former ones belong to their readers.
    private var current: ReservedMemory?
    /// The number of addresses to reserve instead of the usual one; set by tests.
    private let reservation: Int?
    /// The flag that states whether a part of the file was missing when it was read.
    package let loss: FileLoss

    /// Takes over an open descriptor, which is closed after an error.
    ///
    /// - Parameters:
    ///   - descriptor: A file that is open for reading and writing.
    ///   - reservation: The number of addresses to reserve instead of the usual one.
    ///   - loss: The flag for missing parts.
    /// - Throws: `.refused(.unsuitable)` when it is not a regular file.
    package init(descriptor: Int32, reservation: Int? = nil, loss: FileLoss = FileLoss()) throws(StorageError) {
        self.loss = loss
        do throws(StorageError) {
            byteCount = try System.regularFileSize(descriptor)
        } catch {
            System.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.reservation = reservation
    }

    /// Returns what the system reports about the open file at present.
    func facts() throws(StorageError) -> System.FileFacts { try System.facts(descriptor) }

    /// Opens an existing file; nil when there is none.
    package convenience init?(path: String, reservation: Int? = nil) throws(StorageError) {
        guard let descriptor = try System.openForWriting(path) else { return nil }
        try self.init(descriptor: descriptor, reservation: reservation)
    }

    deinit { close() }

    /// Returns memory that shows the file; see `StorageBackend`. A file that outgrows its addresses
    /// gets a new range; the old one stays with its readers.
    package func memory() throws(StorageError) -> ReservedMemory {
        if let current, byteCount <= current.capacity {
            try current.show(descriptor: descriptor, byteCount: byteCount, loss: loss)
            return current
        }
        let memory = try ReservedMemory(capacity: max(reservation ?? Reservation.ofFile(for: byteCount), byteCount))
        try memory.show(descriptor: descriptor, byteCount: byteCount, loss: loss)
        current = memory
        return memory
    }

    /// Writes to the file with `pwrite`; mapped memory shows it at once.
    ///
    /// - Throws: `.io` when the disk rejects the write.
    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= byteCount - offset, "a write at \(offset) beyond \(byteCount) bytes")
        try System.write(descriptor, bytes, at: offset)
    }

    /// Extends the file by blocks that are allocated at once. After an error it has its old size.
    package func extend(to wanted: Int) throws(StorageError) {
        guard wanted > byteCount else { return }
        do throws(StorageError) {
            try System.allocate(descriptor, from: byteCount, to: wanted)
        } catch {
            // A part may have been added; the file gets its known size again.
            try? System.truncate(descriptor, to: byteCount)
            throw error
        }
        byteCount = wanted
    }

    /// Cuts the file off, and drops the memory that showed the removed part.
    package func truncate(to wanted: Int) throws(StorageError) {
        guard wanted < byteCount else { return }
        current = nil
        try System.truncate(descriptor, to: wanted)
        byteCount = wanted
    }

    /// Waits for `fdatasync`, or for `fsync` when the size has changed too.
    package func sync(_ scope: SyncScope) throws(StorageError) {
        try System.sync(descriptor, dataOnly: scope == .data)
    }

    /// Closes the descriptor. A second call does nothing.
    package func close() {
        guard descriptor >= 0 else { return }
        System.close(descriptor)
        descriptor = -1
    }
}
