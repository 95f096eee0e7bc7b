// SPDX-License-Identifier: Apache-2.0

/// A file as it is, whose changes stay in this process: for finding out what would happen without letting it happen.
///
/// Pages of the file are shown until they are written to; what is written, and what the file grows by, is memory.
///
/// `@unchecked Sendable`: all mutable fields belong to the thread that holds the write transaction.
package final class ShadowBackend: VolatileBackend, @unchecked Sendable {
    /// The open file.
    private let descriptor: Int32
    /// The memory that shows the file with the changes made here.
    package let current: ReservedMemory
    /// The size of the file in bytes as it is seen here.
    package private(set) var byteCount: Int
    /// Which file is shown; nil when the system does not say.
    package let identity: System.FileIdentity?

    /// The regular file at `path`. It has to be one that may be written to when it is for `writing`.
    ///
    /// Throws what opening the file would throw. Pages that are not written to are shared with the file, so what other programs
    /// write there meanwhile shows.
    package init(path: String, writing: Bool, isExact: Bool) throws(StorageError) {
        let descriptor = try System.openRegular(path, writing: writing, isExact: isExact)
        do throws(StorageError) {
            let byteCount = try System.regularFileSize(descriptor)
            let memory = try ReservedMemory(capacity: Reservation.capacity(for: byteCount))
            try memory.showPrivately(descriptor: descriptor, byteCount: byteCount)
            self.byteCount = byteCount
            current = memory
        } catch {
            System.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        identity = System.identity(descriptor)
    }

    deinit { System.close(descriptor) }

    /// The open file.
    var file: Int32 { descriptor }

    /// Lengthens the file as it is seen here by zeros.
    package func extend(to wanted: Int) throws(StorageError) {
        guard wanted > byteCount else { return }
        current.clear(byteCount..<wanted)
        try current.fill(byteCount: wanted)
        byteCount = wanted
    }

    /// Shortens the file as it is seen here.
    package func truncate(to wanted: Int) throws(StorageError) { byteCount = min(byteCount, wanted) }
}
