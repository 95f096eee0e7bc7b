// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A file whose changes stay in this process, to find out what an operation would do without doing it.
///
/// Pages of the file are shown until they are written to; written pages and pages behind the end are in memory.
///
/// `@unchecked Sendable`: all mutable fields belong to the thread that holds the write transaction.
package final class ShadowBackend: VolatileBackend, @unchecked Sendable {
    /// The descriptor of the file, which this object closes when it is released.
    private let descriptor: Int32
    /// The memory that shows the file with the changes made here.
    package let current: ReservedMemory
    /// The size of the file in bytes, changes included.
    package private(set) var byteCount: Int
    /// The identity of the file that is shown; nil when the system does not report it.
    package let identity: System.FileIdentity?

    /// Opens the regular file at `path`. Pages that are not written to are shared with the file, so
    /// writes of other programs appear in them.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - writing: Whether this process must be allowed to write to the file.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    /// - Throws: The error that opening the file would throw.
    package init(path: String, writing: Bool, isExact: Bool) throws(StorageError) {
        let descriptor = try System.openRegular(path, writing: writing, isExact: isExact)
        do throws(StorageError) {
            let byteCount = try System.regularFileSize(descriptor)
            let memory = try ReservedMemory(capacity: Reservation.ofMemory(for: byteCount))
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

    /// The descriptor of the file, for system calls about it; it stays valid while this object lives.
    var file: Int32 { descriptor }

    /// Extends the contents in memory by zeros; the file on disk keeps its size.
    package func extend(to wanted: Int) throws(StorageError) {
        guard wanted > byteCount else { return }
        current.clear(byteCount..<wanted)
        try current.fill(byteCount: wanted)
        byteCount = wanted
    }

    /// Shortens the contents in memory; the file on disk keeps its size.
    package func truncate(to wanted: Int) throws(StorageError) { byteCount = min(byteCount, wanted) }
}
