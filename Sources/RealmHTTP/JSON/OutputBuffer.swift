// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

/// A growing run of bytes that answers are written into and sent from without another copy.
///
/// Not synchronised: one thread writes at a time; a buffer that was handed to a response is not written again.
/// `@unchecked Sendable`: see the line above; hand-over happens through the locks of the queues in between.
@safe package final class OutputBuffer: @unchecked Sendable {
    /// The first byte; nil until something was reserved.
    @usableFromInline private(set) var start: UnsafeMutablePointer<UInt8>?
    package private(set) var capacity = 0
    package private(set) var count = 0

    /// An empty buffer with room for so many bytes.
    package init(capacity: Int = 0) {
        if capacity > 0 { grow(by: capacity) }
    }

    deinit { unsafe free(start) }

    /// Whether nothing was written.
    package var isEmpty: Bool { count == 0 }

    /// Makes room for `extra` more bytes and returns where the next one goes.
    @inline(__always) func reserve(_ extra: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity &- count < extra { grow(by: extra) }
        // `grow` leaves at least `extra` bytes, so the pointer exists whenever extra is positive.
        return unsafe start.unsafelyUnwrapped + count
    }

    /// Counts bytes that were written behind `reserve`.
    @inline(__always) func advance(_ written: Int) { count &+= written }

    @inline(never) private func grow(by extra: Int) {
        let wanted = max(256, max(count + extra, capacity * 2))
        guard let memory = unsafe realloc(start, wanted) else { preconditionFailure("out of memory for \(wanted) bytes") }
        unsafe start = unsafe memory.assumingMemoryBound(to: UInt8.self)
        capacity = wanted
    }

    /// Forgets the contents and keeps the memory.
    package func removeAll() { count = 0 }

    /// Drops everything after the first `length` bytes.
    package func truncate(to length: Int) { count = min(count, max(length, 0)) }

    /// Appends one byte.
    @inline(__always) package func append(_ byte: UInt8) {
        unsafe reserve(1).pointee = byte
        count &+= 1
    }

    /// Appends bytes as they are.
    package func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends bytes as they are.
    package func append(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    @inline(__always) func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        unsafe append(base, bytes.count)
    }

    @inline(__always) func append(_ bytes: UnsafePointer<UInt8>, _ byteCount: Int) {
        guard byteCount > 0 else { return }
        unsafe memcpy(reserve(byteCount), bytes, byteCount)
        count &+= byteCount
    }

    /// Appends a text of the program, without a string being made.
    @inline(__always) package func append(_ text: StaticString) { unsafe append(text.utf8Start, text.utf8CodeUnitCount) }

    /// Appends a text in UTF-8, without escaping anything.
    package func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0) }
    }

    /// Appends bytes of the file, which are read while this runs.
    package func append(_ view: ByteView) { unsafe view.withBuffer { unsafe append($0) } }

    /// Appends all that is in another buffer.
    package func append(_ other: OutputBuffer) {
        guard let base = unsafe other.start else { return }
        unsafe append(base, other.count)
    }

    /// Writes a line of a page with `write`, unless the answer is full before its end: then nothing of it is written, and the
    /// answer is false.
    func fits(_ budget: WorkBudget, _ write: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
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

    package var lastByte: UInt8? {
        guard count > 0, let start = unsafe start else { return nil }
        return unsafe start[count - 1]
    }

    /// Gives the bytes to `body`, which must neither keep them nor write to the buffer.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// A copy of the contents.
    package var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }

    /// The contents as text; ill-formed sequences are replaced.
    package var text: String { unsafe withBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}
