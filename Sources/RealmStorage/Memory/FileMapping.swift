// SPDX-License-Identifier: Apache-2.0

/// A read-only mapping of a whole file. Nothing is read at this point; the system pages bytes in on first touch.
/// Bytes that the file loses later read as zeros; `loss` says so.
///
/// `@unchecked Sendable`: all fields are set once.
@safe package final class FileMapping: @unchecked Sendable {
    /// The first byte of the file.
    let address: UnsafeRawPointer
    /// The number of bytes that are mapped, as long as the file was when it was opened.
    package let byteCount: Int
    /// Tells whether the file lost a part of what is mapped.
    package let loss = FileLoss()
    /// Tells the handler of lost pages about these addresses.
    private let range: MappedRange

    /// Maps `byteCount` bytes (more than 0) of an open file.
    ///
    /// The descriptor may be closed afterwards; the mapping keeps the file. Throws `.io` when the system refuses.
    package init(descriptor: Int32, byteCount: Int) throws(StorageError) {
        let address = try unsafe System.mapReadOnly(descriptor, byteCount: byteCount)
        do throws(StorageError) {
            range = try unsafe MappedRange(start: address, byteCount: ReservedMemory.wholePages(byteCount), loss: loss)
        } catch {
            unsafe System.unmap(address, byteCount: byteCount)
            throw error
        }
        unsafe self.address = UnsafeRawPointer(address)
        self.byteCount = byteCount
    }

    /// The whole file; valid while the mapping is alive.
    package var bytes: ByteView { unsafe ByteView(start: address.assumingMemoryBound(to: UInt8.self), count: byteCount) }

    deinit {
        range.remove()
        unsafe System.unmap(UnsafeMutableRawPointer(mutating: address), byteCount: byteCount)
    }
}
