// SPDX-License-Identifier: Apache-2.0

/// A range of addresses that fills up from the front and never moves: with the bytes of a file, or with memory.
///
/// What is inside stays where it is while the range grows, so readers of older versions are not disturbed. A file that
/// outgrows its range gets a new one; those who read in the old one keep it alive.
///
/// `@unchecked Sendable`: `populated` and `range` are used by the thread that holds the write transaction only. Others read
/// below a
/// limit that was there when they got hold of the range.
@safe package final class ReservedMemory: @unchecked Sendable {
    /// The first byte of the range. It never changes.
    let address: UnsafeMutableRawPointer
    /// How many bytes the range has.
    package let capacity: Int
    /// How many bytes from the front can be read: whole pages.
    private var populated = 0
    /// What shows a file.
    private var range: MappedRange?

    /// Reserves addresses; nothing can be read yet.
    package init(capacity: Int) throws(StorageError) {
        self.capacity = ReservedMemory.wholePages(max(capacity, 1))
        unsafe address = try unsafe System.reserve(byteCount: self.capacity)
    }

    deinit {
        range?.remove()
        unsafe System.unmap(address, byteCount: capacity)
    }

    /// `byteCount` rounded up to whole pages of memory.
    static func wholePages(_ byteCount: Int) -> Int {
        let page = System.pageByteCount
        return (byteCount + page - 1) / page * page
    }

    /// Shows the first `byteCount` bytes of a file that is at least that long. What it loses later reads as zeros, and
    /// `loss` is set.
    func show(descriptor: Int32, byteCount: Int, loss: FileLoss) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        // Before any thread can read there.
        if let range {
            range.resize(byteCount: wanted)
        } else {
            range = unsafe try MappedRange(start: address, byteCount: wanted, loss: loss)
        }
        try unsafe System.showFile(descriptor, offset: populated, byteCount: wanted - populated, at: address + populated)
        populated = wanted
    }

    /// Shows the first `byteCount` bytes of a file in memory that can be written without changing the file.
    func showPrivately(descriptor: Int32, byteCount: Int) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        try unsafe System.showFile(
            descriptor, offset: populated, byteCount: wanted - populated, at: address + populated, isPrivate: true)
        populated = wanted
    }

    /// Makes the first `byteCount` bytes memory that can be written; what is new is zero.
    func fill(byteCount: Int) throws(StorageError) {
        let wanted = try checked(byteCount)
        guard wanted > populated else { return }
        try unsafe System.populate(address + populated, byteCount: wanted - populated)
        populated = wanted
    }

    /// Makes a part of memory that can be written zero, as far as there is memory.
    func clear(_ range: Range<Int>) {
        let end = min(range.upperBound, populated)
        guard range.lowerBound >= 0, range.lowerBound < end else { return }
        // In bounds: both ends lie in what is populated.
        unsafe (address + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: end - range.lowerBound)
    }

    /// Copies `bytes` into memory that was filled.
    func store(_ bytes: ByteView, at offset: Int) {
        precondition(offset >= 0 && bytes.count <= populated - offset, "bytes at \(offset) end after \(populated)")
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (address + offset).copyMemory(from: start, byteCount: source.count)
        }
    }

    /// The bytes from `offset`; valid while this object is alive. The caller knows that they are there.
    ///
    /// The range never moves, so the view stays valid while the range grows.
    package func view(at offset: Int, byteCount: Int) -> ByteView {
        precondition(
            offset >= 0 && byteCount >= 0 && byteCount <= populated - offset, "bytes at \(offset) end after \(populated)")
        return unsafe ByteView(start: UnsafePointer((address + offset).assumingMemoryBound(to: UInt8.self)), count: byteCount)
    }

    /// `byteCount` in whole pages. Throws `.limit` when the range is smaller.
    private func checked(_ byteCount: Int) throws(StorageError) -> Int {
        let wanted = ReservedMemory.wholePages(byteCount)
        guard wanted <= capacity else { throw .limit("\(byteCount) bytes in a range of \(capacity)") }
        return wanted
    }
}
