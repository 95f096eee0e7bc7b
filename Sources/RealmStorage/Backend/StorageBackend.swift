// SPDX-License-Identifier: Apache-2.0

/// The raw bytes of one file that is written to, and memory in which they can be read.
///
/// Used by the thread that holds the write transaction. What was written is readable at once in `memory()`, but stays
/// after a crash only when a later `sync` has returned; until then any part of it may be there, in any order.
package protocol StorageBackend: AnyObject, Sendable {
    /// The physical size.
    var byteCount: Int { get }

    /// A range in which the first `byteCount` bytes can be read. It grows with the file; when it is exhausted there is
    /// a new one, and the old one still shows what it showed.
    func memory() throws(StorageError) -> ReservedMemory

    /// Writes inside the file. Throws `.io` when the disk refuses; some of the bytes may be there then.
    func write(_ bytes: ByteView, at offset: Int) throws(StorageError)

    /// Lengthens the file by zeros for which there is room on the disk.
    func extend(to byteCount: Int) throws(StorageError)

    /// Cuts the file off. Nobody may read in its memory any more.
    func truncate(to byteCount: Int) throws(StorageError)

    /// Waits until all that was written is durable. After an error it is unknown what is; never try again.
    func sync(_ scope: SyncScope) throws(StorageError)

    /// Lets go of the file. Memory that is still being read stays.
    func close()
}
