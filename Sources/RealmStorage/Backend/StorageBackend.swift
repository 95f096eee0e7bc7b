// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The raw bytes of one file that is written to, and memory in which they can be read.
///
/// It is used by the thread that holds the write transaction. Written bytes are readable at once in `memory()`, but durable only
/// when a later `sync` has returned; until then any part of them may survive a crash, in any order.
package protocol StorageBackend: AnyObject, Sendable {
    /// The physical size of the file in bytes.
    var byteCount: Int { get }

    /// Returns a range of addresses in which the first `byteCount` bytes can be read.
    ///
    /// It grows with the file; when it is exhausted a new one is returned, and the old one still shows what it showed.
    ///
    /// - Throws: `.io` when the system cannot map the file.
    func memory() throws(StorageError) -> ReservedMemory

    /// Writes inside the file.
    ///
    /// - Throws: `.io` when the disk rejects the write; some of the bytes may have been written
    ///   then.
    func write(_ bytes: ByteView, at offset: Int) throws(StorageError)

    /// Extends the file by zeros for which there is room on the disk; throws `.io` when there is none.
    func extend(to byteCount: Int) throws(StorageError)

    /// Cuts the file off. No thread may read its memory any more.
    func truncate(to byteCount: Int) throws(StorageError)

    /// Waits until everything that was written is durable. After an error the state of the disk is
    /// unknown; it must not be tried again.
    func sync(_ scope: SyncScope) throws(StorageError)

    /// Closes the file. Memory that is still being read stays.
    func close()
}

/// The data that a sync has to make durable.
///
/// Not syncing the size saves a write to the file system's journal for each commit.
package enum SyncScope: Sendable, Equatable {
    /// The bytes and the size of the file.
    case full
    /// The bytes only, which is enough when the file did not grow.
    case data
}

/// The number of addresses that a growing file reserves.
///
/// Addresses cost nothing until they are used, and a range that is large enough never has to move.
/// But a process has 128 TiB of them, which tens of thousands of open files have to share.
enum Reservation {
    /// Returns how many bytes of addresses are reserved for bytes that only this process has, and which
    /// are copied when they outgrow them: at least 16 GiB, as there are few of them.
    static func ofMemory(for byteCount: Int) -> Int { max(16 << 30, byteCount * 4) }

    /// Returns how many bytes of addresses are reserved for a file on disk of `byteCount` bytes: at least
    /// 64 MiB. A file that outgrows them is mapped anew, which copies nothing.
    static func ofFile(for byteCount: Int) -> Int { max(64 << 20, byteCount * 4) }
}
