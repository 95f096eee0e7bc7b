// SPDX-License-Identifier: Apache-2.0

/// A range of addresses that is filled from the front and never moves: with the bytes of a file, or with memory.
///
/// Its contents stay where they are while the range grows, so readers of older versions are not
/// disturbed. A file that outgrows its range gets a new one; readers of the old one keep it alive.
///
/// `@unchecked Sendable`: `populated` and `shown` are used by the thread that holds the write
/// transaction only. Other threads read below a limit that was valid when they got the range.
@safe package final class ReservedMemory: @unchecked Sendable {
    /// The first byte of the range. It never changes.
    let address: UnsafeMutableRawPointer
    /// The size of the range in bytes.
    package let capacity: Int
    /// How many bytes from the front can be read, in whole pages.
    private var populated = 0
    /// The registration of the part that shows a file; nil when the range holds memory.
    private var shown: MappedRange?

    /// A view of the whole range, of which only what is populated may be read. It is valid while this
    /// object is alive, and for any thread, as it does not change when the range grows.
    package var range: ByteView {
        unsafe ByteView(start: UnsafePointer(address.assumingMemoryBound(to: UInt8.self)), count: capacity)
    }

    /// Reserves addresses, of which none can be read yet.
    ///
    /// - Parameter capacity: The size of the range in bytes, rounded up to whole pages.
    /// - Throws: `.io` when the system has no such range.
    package init(capacity: Int) throws(StorageError) {
        self.capacity = ReservedMemory.wholePages(max(capacity, 1))
        unsafe address = try unsafe System.reserve(byteCount: self.capacity)
    }

    deinit {
        shown?.remove()
        unsafe System.unmap(address, byteCount: capacity)
    }

    /// Returns `byteCount` rounded up to whole pages of memory.
    package static func wholePages(_ byteCount: Int) -> Int {
        let page = System.pageByteCount
        return (byteCount + page - 1) / page * page
    }

    /// Shows the first bytes of a file. Parts that it loses later read as zeros, and `loss` is set.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes are shown; the file is at least that long.
    ///   - loss: The flag for missing parts.
    /// - Throws: `.limit` when the range is too small, `.io` when the system cannot map the file.
    package func show(descriptor: Int32, byteCount: Int, loss: FileLoss) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        // The handler has to know the range before any thread can read there.
        if let shown {
            shown.resize(byteCount: wanted)
        } else {
            shown = unsafe try MappedRange(start: address, byteCount: wanted, loss: loss)
        }
        try unsafe System.showFile(descriptor, offset: populated, byteCount: wanted - populated, at: address + populated)
        populated = wanted
    }

    /// Shows the first `byteCount` bytes of a file in memory that can be written without changing the file.
    package func showPrivately(descriptor: Int32, byteCount: Int) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        try unsafe System.showFile(
            descriptor, offset: populated, byteCount: wanted - populated, at: address + populated, isPrivate: true)
        populated = wanted
    }

    /// Makes the first `byteCount` bytes memory that can be written; new bytes are zero.
    ///
    /// - Throws: `.limit` when the range is too small.
    package func fill(byteCount: Int) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        try unsafe System.populate(address + populated, byteCount: wanted - populated)
        populated = wanted
    }

    /// Sets a range of writable memory to zero, as far as it is populated.
    package func clear(_ range: Range<Int>) {
        let end = min(range.upperBound, populated)
        guard range.lowerBound >= 0, range.lowerBound < end else { return }
        // In bounds: both ends lie in what is populated.
        unsafe (address + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: end - range.lowerBound)
    }

    /// Returns a range of writable memory to the system, with the rest of its first and its last page; it is zero then.
    package func forget(_ range: Range<Int>) {
        let start = range.lowerBound / System.pageByteCount * System.pageByteCount
        let end = min(ReservedMemory.wholePages(range.upperBound), populated)
        guard start >= 0, start < end else { return }
        // In bounds: both ends lie in what is populated.
        unsafe System.forget(address + start, byteCount: end - start)
    }

    /// Copies `bytes` into writable memory; bytes beyond the populated part trap.
    package func store(_ bytes: ByteView, at offset: Int) {
        precondition(offset >= 0 && bytes.count <= populated - offset, "bytes at \(offset) end after \(populated)")
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (address + offset).copyMemory(from: start, byteCount: source.count)
        }
    }

    /// Returns the place of `byteCount` bytes that are about to be stored; it traps outside the range.
    ///
    /// Any thread may call it: a page that a reader decrypts was populated before its number was known to readers.
    package func room(at offset: Int, byteCount: Int) -> WritableBytes {
        precondition(
            offset >= 0 && byteCount >= 0 && byteCount <= capacity - offset, "bytes at \(offset) end after \(capacity)")
        return unsafe WritableBytes(start: (address + offset).assumingMemoryBound(to: UInt8.self), count: byteCount)
    }

    /// Returns a view of the bytes from `offset` on, which must be populated; otherwise it traps.
    ///
    /// The view is valid while this object is alive, also when the range grows, as it never moves.
    package func view(at offset: Int, byteCount: Int) -> ByteView {
        precondition(
            offset >= 0 && byteCount >= 0 && byteCount <= populated - offset, "bytes at \(offset) end after \(populated)")
        return unsafe ByteView(start: UnsafePointer((address + offset).assumingMemoryBound(to: UInt8.self)), count: byteCount)
    }

    /// Returns `byteCount` in whole pages; throws `.limit` when the range is smaller.
    private func checked(_ byteCount: Int) throws(StorageError) -> Int {
        let wanted = ReservedMemory.wholePages(byteCount)
        guard wanted <= capacity else { throw .limit("\(byteCount) bytes in a range of \(capacity)") }
        return wanted
    }
}
