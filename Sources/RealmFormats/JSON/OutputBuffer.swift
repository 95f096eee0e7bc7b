// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmPlatform
internal import RealmStorage

/// A growing run of bytes that a response is written into, and sent from without another copy.
///
/// `@unchecked Sendable`: it has no lock. One thread at a time writes; a buffer that was given to a response no longer changes,
/// and reaches the thread that sends it through the lock of a queue.
@safe package final class OutputBuffer: @unchecked Sendable {
    /// The first byte, in memory of `malloc` that this object owns; nil until room was reserved.
    @usableFromInline package private(set) var start: UnsafeMutablePointer<UInt8>?
    /// The number of bytes that fit before the memory has to grow.
    package private(set) var capacity = 0
    /// The number of bytes in the buffer.
    package private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: The number of bytes that should fit before it has to grow; at least 256 unless it is 0.
    package init(capacity: Int = 0) {
        if capacity > 0 { grow(by: capacity) }
    }

    deinit { unsafe free(start) }

    /// Whether the buffer contains no bytes.
    package var isEmpty: Bool { count == 0 }

    /// Makes room for more bytes and returns the place of the next one. The caller writes there, and then calls `advance`.
    ///
    /// The pointer is valid until the next call that may grow the buffer.
    ///
    /// - Parameter extra: The number of bytes that need room; positive.
    @inline(__always) package func reserve(_ extra: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity &- count < extra { grow(by: extra) }
        // `grow` leaves at least `extra` bytes, so the pointer exists whenever extra is positive.
        return unsafe start.unsafelyUnwrapped + count
    }

    /// Makes room for more bytes, as `reserve` does, for a writer that stores them.
    @inline(__always) package func room(_ extra: Int) -> WritableBytes {
        unsafe WritableBytes(start: reserve(extra), count: extra)
    }

    /// Counts bytes that were written into the room that `reserve` returned.
    ///
    /// - Parameter written: The number of written bytes, at most as many as were reserved.
    @inline(__always) package func advance(_ written: Int) { count &+= written }

    /// Enlarges the memory to at least twice its size, so that appending takes constant time on
    /// average. The process ends when the system has no memory.
    @inline(never) private func grow(by extra: Int) {
        let wanted = max(256, max(count + extra, capacity * 2))
        guard let memory = unsafe realloc(start, wanted) else { preconditionFailure("out of memory for \(wanted) bytes") }
        unsafe start = unsafe memory.assumingMemoryBound(to: UInt8.self)
        capacity = wanted
    }

    /// Empties the buffer and keeps its memory for the next contents.
    package func removeAll() { count = 0 }

    /// Removes everything after the first bytes, and keeps the memory.
    ///
    /// - Parameter length: The number of bytes that stay.
    package func truncate(to length: Int) { count = min(count, max(length, 0)) }

    @inline(__always) package func append(_ byte: UInt8) {
        unsafe reserve(1).pointee = byte
        count &+= 1
    }

    /// Appends the bytes of an array as they are.
    package func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends the bytes of a part of an array as they are.
    package func append(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends a short part of an array, sixteen bytes at a time.
    ///
    /// - Parameters:
    ///   - bytes: The array.
    ///   - range: The part, which must be in it; otherwise it traps.
    ///   - padding: The number of bytes that follow the part at least, 16 or more; otherwise it traps.
    @inline(__always) package func append(_ bytes: [UInt8], _ range: Range<Int>, readable padding: Int) {
        precondition(
            range.lowerBound >= 0 && padding >= 16 && range.upperBound <= bytes.count - padding, "bytes outside their array")
        let target = unsafe UnsafeMutableRawPointer(reserve(range.count + 16))
        unsafe bytes.withUnsafeBytes { source in
            var offset = 0
            repeat {
                // In bounds: up to 15 bytes after the part are read and stored, for which there is room on both sides.
                let lanes = unsafe source.loadUnaligned(fromByteOffset: range.lowerBound &+ offset, as: SIMD16<UInt8>.self)
                unsafe target.storeBytes(of: lanes, toByteOffset: offset, as: SIMD16<UInt8>.self)
                offset &+= 16
            } while offset < range.count
        }
        advance(range.count)
    }

    /// Appends a copy of bytes in memory of the caller.
    @inline(__always) package func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        unsafe append(base, bytes.count)
    }

    /// Appends a copy of `byteCount` bytes in memory of the caller.
    @inline(__always) package func append(_ bytes: UnsafePointer<UInt8>, _ byteCount: Int) {
        guard byteCount > 0 else { return }
        unsafe memcpy(reserve(byteCount), bytes, byteCount)
        count &+= byteCount
    }

    /// Appends a constant text of the program, without making a string.
    @inline(__always) package func append(_ text: StaticString) { unsafe append(text.utf8Start, text.utf8CodeUnitCount) }

    /// Appends a text in UTF-8, without escaping anything.
    package func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0) }
    }

    /// Appends bytes of a file. The caller holds the snapshot that they belong to.
    package func append(_ view: ByteView) { unsafe view.withBuffer { unsafe append($0) } }

    /// Appends the contents of another buffer, without its first bytes if a number of them is given.
    package func append(_ other: OutputBuffer, from first: Int = 0) {
        guard let base = unsafe other.start, first >= 0, first < other.count else { return }
        unsafe append(base + first, other.count - first)
    }

    /// Writes one row of a page, unless the page would exceed the size limits of the response.
    ///
    /// - Parameters:
    ///   - budget: The limits of the response.
    ///   - write: Appends the row.
    /// - Returns: False when the row does not fit; nothing of it remains then, and the page ends
    ///   before it.
    /// - Throws: Errors of storage that are no size limit.
    package func fits(_ budget: WorkBudget, _ write: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
        let mark = count
        do throws(StorageError) {
            try write()
            try budget.requireRoom(for: count)
            return true
        } catch {
            guard error.isFullAnswer else { throw error }
            truncate(to: mark)
            return false
        }
    }

    /// Gives the contents to a closure without copying them.
    ///
    /// - Parameter body: Uses the bytes; it must neither keep them nor write to this buffer.
    /// - Returns: The result of `body`.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// Returns whether another buffer has the same contents.
    func hasSameBytes(as other: OutputBuffer) -> Bool {
        unsafe ByteView(start: start, count: count) == ByteView(start: other.start, count: other.count)
    }

    /// A copy of the contents.
    package var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }

    /// The number of bytes that a piece of the contents has at most.
    private static let pieceByteCount = 1 << 20

    /// Passes on copies of the contents in pieces, so that no other copy of long contents is in memory; one empty piece of an empty buffer.
    package func forEachPiece(_ body: ([UInt8]) throws -> Void) rethrows {
        var first = 0
        repeat {
            let end = min(first + OutputBuffer.pieceByteCount, count)
            try body(unsafe withBytes { unsafe Array($0[first..<end]) })
            first = end
        } while first < count
    }

    /// The contents as a string. Bytes that are not valid UTF-8 are replaced by U+FFFD.
    package var text: String { unsafe withBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}
