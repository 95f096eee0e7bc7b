// SPDX-License-Identifier: Apache-2.0

/// A read-only mapping of a whole file. Nothing is read when it is made; the system loads pages
/// when they are first used. Bytes that the file loses later read as zeros, which `loss` states.
///
/// `@unchecked Sendable`: all fields are set once.
@safe package final class FileMapping: @unchecked Sendable {
    /// The first byte of the file in memory.
    let address: UnsafeRawPointer
    /// How many bytes are mapped: the size of the file when it was opened.
    package let byteCount: Int
    /// The flag that states whether the file lost a part of what is mapped.
    package let loss = FileLoss()
    /// Registers these addresses with the handler of missing pages.
    private let range: MappedRange

    /// Maps an open file, whose descriptor may be closed afterwards.
    ///
    /// - Parameters:
    ///   - byteCount: Its size, more than 0.
    /// - Throws: `.io` when the system cannot map it.
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

    /// A view of the whole file, which is valid while the mapping is alive.
    package var bytes: ByteView { unsafe ByteView(start: address.assumingMemoryBound(to: UInt8.self), count: byteCount) }

    deinit {
        range.remove()
        unsafe System.unmap(UnsafeMutableRawPointer(mutating: address), byteCount: byteCount)
    }
}

extension FileMapping {
    /// Returns the contents of a small regular file, such as a configuration.
    ///
    /// - Parameters:
    ///   - limit: The greatest length in bytes.
    /// - Throws: `StorageError` when the file cannot be opened or is no regular file, and `.limit`
    ///   when it is longer.
    package static func contents(ofFile path: String, limit: Int) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        guard byteCount > 0 else { return [] }
        guard byteCount <= limit else { throw .limit("the file has \(byteCount) bytes, more than \(limit)") }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        // The view does not hold the mapping.
        return withExtendedLifetime(mapping) { mapping.bytes.array }
    }
}
